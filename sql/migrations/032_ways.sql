-- Lists look for rows in other ways.
drop function if exists platform.few(anyarray, integer);
drop function if exists platform.read_page(anyelement, jsonb, platform.sort_key[], text, text, boolean);
drop function if exists platform.merged_sql(text[], text[], text, text);
drop function if exists platform.pick_page(jsonb, platform.sort_key[], text, text, text[], text[], platform.text_list[]);
drop function if exists platform.facets(jsonb, platform.facet[], text, text[], text[], platform.text_list[]);
drop type platform.text_list;

-- A way in which rows of a list are found, for platform.pick_page: from `source`, a view and its alias, those that
-- satisfy one of `conditions`. If it compares a column with values of the caller, `lead` is that column, and `behind` is the
-- condition in a form with which an index has the rows in the order of the list, behind each of the values `own` or, if
-- it is null, behind the one value. Without `lead`, no index does.
create type platform.way as (
  source text,
  conditions text[],
  lead text,
  behind text,
  own text
);

comment on type platform.way is 'A way in which rows of a list are found.';

-- The function of a union's list calls those of its arms.
grant usage on schema api to sternpost_open, sternpost_caller, sternpost_caller_2, sternpost_caller_3, sternpost_caller_4,
  sternpost_caller_5, sternpost_caller_6, sternpost_caller_7, sternpost_caller_8;
