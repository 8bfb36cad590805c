-- One query of several that find rows, each in a way of its own, by the conditions of `filter` and of the range that is
-- added. Made of fragments of the schema, never of text from a request.
--
-- If Postgres chose, it could walk along the order of the list, past the rows of everybody, until it has met enough of
-- the caller's. Nothing bounds that walk. So a limit is next to a condition only if an index has the rows in the order
-- behind the column that the way compares with the caller's values. Otherwise they are behind a fence.
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
    '(select ' || columns
      || case
        when way.behind is not null and (is_fenced or way.lead is null) then
          format(' from (select * from (select %1$s.* from %2$s where %3$s%4$s offset 0) as %1$s where true', table_, source, condition, filter)
        else
          coalesce(' from (select distinct value from unnest(' || way.own || ') as value) as list__access cross join lateral (select ',
              ' from (select ')
            || table_ || '.* from ' || source || ' where ' || coalesce(way.behind, condition) || filter
      end
      || added
      || case
        when keys is null then ''
        else ' order by ' || case when is_fenced then '' else coalesce(way.lead || descending || ', ', '') end
          || platform.order_sql(keys, backwards)
      end
      || most || ') as ' || table_ || ')',
    word
  )
  from unnest(ways) as way
  cross join unnest(case when way.behind is not null and (is_fenced or way.lead is null) then way.conditions else way.conditions[:1] end) as condition
  cross join (
    select quote_ident(alias), case when (keys[1]).is_descending <> backwards then ' desc' else '' end
  ) as of_all (table_, descending);
$$;

comment on function platform.merged_sql(platform.way[], text, text, text, boolean, text, platform.sort_key[], boolean, text, text)
  is 'One query of several, as SQL.';
grant execute on function platform.merged_sql(platform.way[], text, text, text, boolean, text, platform.sort_key[], boolean, text, text)
  to sternpost_caller;
