-- The next $4 rows of the order of a list, from each source, as SQL: the columns of each, list__mine, which tells whether
-- it satisfies the conditions of the filter and of the rules, and list__place. Rows are judged one by one as they are
-- read. Made of fragments of the schema, never of text from a request.
create or replace function platform.stretch_sql(
  sources platform.way[],
  alias text,
  columns text,
  filter text,
  range text,
  ordered text
) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select string_agg(
    format(
      '(select %2$s, list__mine, row_number() over (order by %6$s) as list__place from (select %1$I.*, (true%4$s and %7$s) as list__mine'
        ' from %3$s where %5$s order by %6$s limit $4) as %1$I)',
      alias, columns, source, filter, range, ordered, conditions[1]
    ),
    ' union all '
  )
  from unnest(sources);
$$;

comment on function platform.stretch_sql(platform.way[], text, text, text, text, text) is 'The next rows of the order of a list, as SQL.';
grant execute on function platform.stretch_sql(platform.way[], text, text, text, text, text) to sternpost_caller;
