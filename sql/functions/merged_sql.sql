-- One query of several that find rows, each in a way of its own, by the conditions of `filter` and of the range that is
-- added. Made of fragments of the schema, never of text from a request.
--
-- If Postgres chose, it could walk along the order of the list, past the rows of everybody, until it has met enough of
-- the caller's. Nothing bounds that walk. So a limit is next to a condition only if an index has the rows in the order
-- behind the column that the way compares with the caller's values. Otherwise all rows of the way are found, behind a
-- fence.
create or replace function platform.merged_sql(
  ways platform.way[],
  alias text,
  columns text,
  filter text,
  is_fenced boolean,
  added text default '',
  keys platform.sort_key[] default null,
  backwards boolean default false,
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
      when way.behind is not null and (is_fenced or way.lead is null) then
        '(select ' || columns || ' from ' || way.source || ' where ' || condition || filter || added || ' offset 0)'
      when way.own is not null then
        '(select ' || columns || ' from (select distinct value from unnest(' || way.own || ') as value) as list__access'
          || ' cross join lateral (select ' || table_ || '.* from ' || way.source || ' where ' || way.behind || filter || added
          || ordered || most || ') as ' || table_ || ')'
      else
        '(select ' || columns || ' from ' || way.source || ' where ' || coalesce(way.behind, condition) || filter || added
          || ordered || most || ')'
    end,
    word
  )
  from unnest(ways) as way
  cross join lateral unnest(
    case
      when way.lead is null then way.conditions
      when is_fenced then array[coalesce(replace(way.behind, 'array[list__access.value]', way.own), way.behind)] -- as values, they have statistics
      else array[way.conditions[1]]
    end
  ) as condition
  cross join quote_ident(alias) as table_
  cross join lateral (
    select case
      when keys is null then ''
      when is_fenced or way.lead is null then ' order by ' || platform.order_sql(keys, backwards)
      else ' order by ' || way.lead || case when (keys[1]).is_descending <> backwards then ' desc, ' else ', ' end
        || platform.order_sql(keys, backwards)
    end
  ) as of_way (ordered);
$$;

comment on function platform.merged_sql(platform.way[], text, text, text, boolean, text, platform.sort_key[], boolean, text, text)
  is 'One query of several, as SQL.';
grant execute on function platform.merged_sql(platform.way[], text, text, text, boolean, text, platform.sort_key[], boolean, text, text)
  to sternpost_caller;
