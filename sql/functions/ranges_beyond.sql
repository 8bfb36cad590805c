-- The rows beyond a position, the nearest first, as conditions for statements that receive the position as $2. It reads
-- from the position only which values are null: no value becomes part of the text. Null is last ascending and first
-- descending.
--
-- If all keys have one direction and are never null, the order is one comparison of rows. For any other order, each
-- condition is one range of an index on the keys: the rows that equal the position by the first keys and lie beyond it
-- by the next one.
--
-- Few rows share an instant. So if the first key is one, a single condition covers all ranges, which saves a statement.
-- The index finds the place by the first conjunct of that condition.
create or replace function platform.ranges_beyond(keys platform.sort_key[], backwards boolean, place jsonb) returns text[]
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_key platform.sort_key;
  v_beyond text;
  v_value text;
  v_same text := '';
  v_ranges text[] := '{}';
  v_around int;
  v_is_one_way boolean := cardinality(keys) > 1;
  v_place int := 0;
  v_row text;
  v_position text;
begin
  foreach v_key in array keys loop
    v_is_one_way := v_is_one_way and not v_key.is_nullable and v_key.is_descending = (keys[1]).is_descending;
    v_row := concat_ws(', ', v_row, v_key.expression);
    v_position := concat_ws(', ', v_position, format('($2->>%s)::%s', v_place, v_key.type));
    v_place := v_place + 1;
  end loop;
  if v_is_one_way then
    return array[format(
      '(%s) %s (%s)', v_row, case when (keys[1]).is_descending <> backwards then '<' else '>' end, v_position)];
  end if;

  for i in 1 .. cardinality(keys) loop
    v_key := keys[i];
    v_beyond := case when v_key.is_descending <> backwards then ' < ' else ' > ' end;
    if place->(i - 1) = 'null' then
      if v_beyond = ' < ' then
        v_ranges := (v_same || v_key.expression || ' is not null') || v_ranges;
      end if;
      v_same := v_same || v_key.expression || ' is null and ';
    else
      if v_beyond = ' > ' and v_key.is_nullable then
        v_ranges := (v_same || v_key.expression || ' is null') || v_ranges;
      end if;
      v_value := format('($2->>%s)::%s', i - 1, v_key.type);
      v_ranges := (v_same || v_key.expression || v_beyond || v_value) || v_ranges;
      v_same := v_same || v_key.expression || ' = ' || v_value || ' and ';
    end if;
  end loop;

  v_key := keys[1];
  if v_key.type = 'timestamptz' and place->0 <> 'null' then
    v_beyond := case when v_key.is_descending <> backwards then ' <= ' else ' >= ' end;
    v_around := cardinality(v_ranges) - case when v_beyond = ' >= ' and v_key.is_nullable then 1 else 0 end;
    v_ranges := (
      v_key.expression || v_beyond || format('($2->>0)::%s', v_key.type) || ' and (' || array_to_string(v_ranges[:v_around], ' or ') || ')'
    ) || v_ranges[v_around + 1:];
  end if;

  return v_ranges;
end;
$$;

comment on function platform.ranges_beyond(platform.sort_key[], boolean, jsonb) is 'The rows beyond a position, as SQL.';
grant execute on function platform.ranges_beyond(platform.sort_key[], boolean, jsonb) to sternpost_caller, sternpost_code;
