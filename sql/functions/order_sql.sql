-- The order of a list whose order the request chose, as SQL for `execute`. It is made of the keys' fragments, never of text from
-- a request.
create or replace function platform.order_sql(keys platform.sort_key[], backwards boolean) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select string_agg(key.expression || case when key.is_descending <> backwards then ' desc' else '' end, ', ' order by place)
  from unnest(keys) with ordinality as key (name, expression, type, is_nullable, is_descending, place);
$$;

comment on function platform.order_sql(platform.sort_key[], boolean) is 'The order of a list, as SQL.';
grant execute on function platform.order_sql(platform.sort_key[], boolean) to sternpost_caller, sternpost_code;
