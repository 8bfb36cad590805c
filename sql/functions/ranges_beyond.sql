-- The rows beyond a position, the nearest first, as conditions for statements that receive the position as $2. It reads
-- from the position only which values are null: no value becomes part of the text. Null is last ascending and first
-- descending.
--
-- If all keys have one direction and are never null, the order is one comparison of rows; the number of the arm only tells
-- rows of one id apart. For any other order, each condition is one range of an index on the keys: the rows that equal
-- the position by the first keys and lie beyond it by the next one.
create or replace function platform.ranges_beyond(keys platform.sort_key[], backwards boolean, place jsonb) returns text[]
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_key platform.sort_key;
  v_sign text;
  v_value text;
  v_same text := '';
  v_row text;
  v_position text;
  v_arm text;
  v_is_one_way boolean := true;
  v_ranges text[] := '{}';
begin
  for i in 1 .. cardinality(keys) loop
    v_key := keys[i];
    v_sign := case when v_key.is_descending <> backwards then ' < ' else ' > ' end;
    v_value := format('($2->>%s)::%s', i - 1, v_key.type);
    if v_key.name = 'arm__number' then
      v_arm := v_key.expression || v_sign || v_value;
    else
      v_row := concat_ws(', ', v_row, v_key.expression);
      v_position := concat_ws(', ', v_position, v_value);
      v_is_one_way := v_is_one_way and not v_key.is_nullable and v_key.is_descending = (keys[1]).is_descending;
    end if;
    if place->(i - 1) is distinct from 'null' then
      v_ranges := array[v_same || v_key.expression || v_sign || v_value]
        || case when v_sign = ' > ' and v_key.is_nullable then array[v_same || v_key.expression || ' is null'] end || v_ranges;
      v_same := v_same || v_key.expression || ' = ' || v_value || ' and ';
    else
      v_ranges := case when v_sign = ' < ' then array[v_same || v_key.expression || ' is not null'] end || v_ranges;
      v_same := v_same || v_key.expression || ' is null and ';
    end if;
  end loop;
  return case when v_is_one_way then array[format(
    case when v_arm is null then '(%s) %s (%s)' else '(%1$s) %2$s= (%3$s) and ((%1$s) %2$s (%3$s) or %4$s)' end,
    v_row, case when (keys[1]).is_descending <> backwards then '<' else '>' end, v_position, v_arm
  )] else v_ranges end;
end;
$$;

comment on function platform.ranges_beyond(platform.sort_key[], boolean, jsonb) is 'The rows beyond a position, as SQL.';
grant execute on function platform.ranges_beyond(platform.sort_key[], boolean, jsonb) to sternpost_caller, sternpost_code;
