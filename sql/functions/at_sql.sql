-- The condition for the row at a position, as SQL for a statement that receives the position as $2. The last key is the
-- id, so there is at most one such row. As in platform.ranges_beyond, no value becomes part of the text.
create or replace function platform.at_sql(keys platform.sort_key[], place jsonb) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select string_agg(
    key.expression || case
      when place->(key.number - 1)::int = 'null' then ' is null'
      else format(' = ($2->>%s)::%s', key.number - 1, key.type)
    end,
    ' and ' order by key.number
  )
  from unnest(keys) with ordinality as key (name, expression, type, is_nullable, is_descending, number);
$$;

comment on function platform.at_sql(platform.sort_key[], jsonb) is 'The row at a position, as SQL.';
grant execute on function platform.at_sql(platform.sort_key[], jsonb) to sternpost_caller, sternpost_code;
