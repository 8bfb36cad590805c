-- The row that the kept columns of a history describe. The table may have changed since: a value that does not fit the
-- type of its column any more is null.
create or replace function platform.history_row(base anyelement, columns jsonb) returns anyelement
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column record;
begin
  return jsonb_populate_record(base, columns);
exception when others then
  for v_column in select * from jsonb_each(columns) loop
    begin
      base := jsonb_populate_record(base, jsonb_build_object(v_column.key, v_column.value));
    exception when others then
      null; -- of another type
    end;
  end loop;
  return base;
end;
$$;

comment on function platform.history_row(anyelement, jsonb) is 'The row that the kept columns of a history describe.';
grant execute on function platform.history_row(anyelement, jsonb) to sternpost_caller;
