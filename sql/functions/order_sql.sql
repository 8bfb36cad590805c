-- The order of a list, as SQL for `execute`. It is made of the keys' fragments, never of text from a request. Not in language sql,
-- since Postgres would plan the query anew in each call.
create or replace function platform.order_sql(keys platform.sort_key[], backwards boolean) returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_key platform.sort_key;
  v_order text;
begin
  foreach v_key in array keys loop
    v_order := concat_ws(', ', v_order, v_key.expression || case when v_key.is_descending <> backwards then ' desc' else '' end);
  end loop;
  return v_order;
end;
$$;

comment on function platform.order_sql(platform.sort_key[], boolean) is 'The order of a list, as SQL.';
grant execute on function platform.order_sql(platform.sort_key[], boolean) to sternpost_caller, sternpost_code;
