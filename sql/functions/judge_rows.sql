-- After a refusal of a call with many rows: makes the call again with one row at a time, each after those before it, and
-- undoes them all. Returns the errors as an array, each with its row and with what Postgres reports; null for none.
create or replace function platform.judge_rows(function text, input jsonb, context jsonb) returns jsonb
language plpgsql
volatile
security invoker
as $$
declare
  v_errors jsonb;
  v_call text := format('select count(*) from api.%I($1, $2)', function);
  v_state text; v_message text; v_detail text; v_where text; v_schema text; v_table text; v_column text; v_constraint text;
  v_row record;
begin
  begin
    for v_row in
      select rows.value, rows.place - 1 as place from jsonb_array_elements(input->'rows') with ordinality as rows (value, place) order by rows.place
    loop
      begin
        execute v_call using jsonb_build_object('rows', jsonb_build_array(v_row.value)), context;
      exception when others then
        get stacked diagnostics
          v_state = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail, v_where = pg_exception_context,
          v_schema = schema_name, v_table = table_name, v_column = column_name, v_constraint = constraint_name;
        v_errors := coalesce(v_errors, '[]') || jsonb_build_object(
          'place', v_row.place, 'code', v_state, 'message', v_message, 'detail', v_detail, 'where', v_where,
          'schema', v_schema, 'table', v_table, 'column', v_column, 'constraint', v_constraint, 'row', v_row.value
        );
      end;
    end loop;
    raise exception 'undone' using errcode = 'SP000';
  exception when sqlstate 'SP000' then
    null;
  end;
  return v_errors;
end;
$$;

comment on function platform.judge_rows(text, jsonb, jsonb) is 'Tells which rows of a call with many are refused, and why.';
revoke execute on function platform.judge_rows(text, jsonb, jsonb) from public;
grant execute on function platform.judge_rows(text, jsonb, jsonb) to sternpost_server;
