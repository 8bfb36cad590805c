-- The order of a list: the keys that a request names, then the keys of the list's own order that it does not name. If a
-- request names a key twice, the first counts. If `follows`, the id has the direction of the key before it. The server
-- has refused names that are not keys; here they are ignored.
create or replace function platform.requested_order(
  requested jsonb,
  own platform.sort_key[],
  others platform.sort_key[],
  follows boolean
) returns platform.sort_key[]
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_name text;
  v_direction text;
  v_key platform.sort_key;
  v_taken text[] := '{}';
  v_keys platform.sort_key[] := '{}';
begin
  if requested is null then
    return own;
  end if;

  for v_name, v_direction in
    select member.key, member.value
    from jsonb_array_elements(requested) with ordinality as item (value, place)
    cross join jsonb_each_text(item.value) as member
    order by item.place
  loop
    continue when v_name = any (v_taken);
    foreach v_key in array own || others loop
      if v_key.name = v_name then
        v_key.is_descending := v_direction = 'desc';
        v_keys := v_keys || v_key;
      end if;
    end loop;
    v_taken := v_taken || v_name;
  end loop;

  foreach v_key in array own loop
    continue when v_key.name = any (v_taken);
    if follows and v_key.name = 'id' and cardinality(v_keys) > 0 then
      v_key.is_descending := (v_keys[cardinality(v_keys)]).is_descending;
    end if;
    v_keys := v_keys || v_key;
  end loop;
  return v_keys;
end;
$$;

comment on function platform.requested_order(jsonb, platform.sort_key[], platform.sort_key[], boolean)
  is 'The order of a list as a request has it.';
grant execute on function platform.requested_order(jsonb, platform.sort_key[], platform.sort_key[], boolean)
  to sternpost_caller, sternpost_code;
