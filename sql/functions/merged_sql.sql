-- One query of several that find rows, each in a way of its own, by the conditions of `filter`. Made of fragments of the
-- schema, never of text from a request.
--
-- If Postgres chose, it could walk along the order of the list, past the rows of everybody, until it has met enough of
-- the caller's. Nothing bounds that walk. So a limit, `most`, is next to a condition only if an index has the rows in the
-- order behind the column that the way compares with the caller's values. Otherwise all rows of the way are found, behind
-- a fence.
create or replace function platform.merged_sql(
  ways platform.way[],
  alias text,
  columns text,
  filter text,
  is_fenced boolean,
  ordered text default null,
  most text default '',
  word text default ' union '
) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select string_agg(
    case
      when is_fenced or lead is null or own is null then
        '(select ' || columns || ' from ' || source || ' where '
          || case when lead is null then condition else coalesce(replace(behind, 'array[list__access.value]', own), behind) end
          || filter || case when behind is not null and (is_fenced or lead is null) then ' offset 0' else of_way end || ')'
      else
        '(select ' || columns || ' from (select distinct value from unnest(' || own || ') as value) as list__access'
          || ' cross join lateral (select ' || table_ || '.* from ' || source || ' where ' || behind || filter || of_way || ') as ' || table_ || ')'
    end,
    word
  )
  from unnest(ways)
  cross join quote_ident(alias) as table_
  cross join coalesce(' order by ' || ordered, '') as plain
  cross join lateral concat(
    case
      when is_fenced or lead is null then plain
      else replace(plain, ' by ', ' by ' || lead || case when split_part(plain, ',', 1) like '% desc' then ' desc, ' else ', ' end)
    end,
    most
  ) as of_way;
$$;

comment on function platform.merged_sql(platform.way[], text, text, text, boolean, text, text, text) is 'One query of several, as SQL.';
grant execute on function platform.merged_sql(platform.way[], text, text, text, boolean, text, text, text) to sternpost_caller, sternpost_code;
