-- The order of a list, as SQL for `execute`. It is made of the keys' fragments, never of text from a request. Not in language sql,
-- since Postgres would plan the query anew in each call.
create or replace function platform.order_sql(keys platform.sort_key[], backwards boolean) returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
begin
  return (
    select string_agg(expression || case when is_descending <> backwards then ' desc' else '' end, ', ')
    from unnest(keys)
  );
end;
$$;

comment on function platform.order_sql(platform.sort_key[], boolean) is 'The order of a list, as SQL.';
grant execute on function platform.order_sql(platform.sort_key[], boolean) to sternpost_caller, sternpost_code;
