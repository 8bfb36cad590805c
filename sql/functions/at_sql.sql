-- The condition for the row at a position, as SQL for a statement that receives the position as $2. The last key is the
-- id, so there is at most one such row. As in platform.ranges_beyond, no value becomes part of the text.
-- Like platform.order_sql, it is not in language sql.
create or replace function platform.at_sql(keys platform.sort_key[], place jsonb) returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_key platform.sort_key;
  v_place int := 0;
  v_at text;
begin
  foreach v_key in array keys loop
    v_at := concat_ws(
      ' and ',
      v_at,
      v_key.expression || case
        when place->v_place = 'null' then ' is null'
        else format(' = ($2->>%s)::%s', v_place, v_key.type)
      end
    );
    v_place := v_place + 1;
  end loop;
  return v_at;
end;
$$;

comment on function platform.at_sql(platform.sort_key[], jsonb) is 'The row at a position, as SQL.';
grant execute on function platform.at_sql(platform.sort_key[], jsonb) to sternpost_caller, sternpost_code;
