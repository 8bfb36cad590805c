-- A position in a list: base64url of a JSON array of the version, the list's mark and the record's sort values as they go over
-- the wire, spaced as json_build_array does, which makes those of lists of one order. It is opaque to clients but not signed: a
-- forged one is a position like any other and grants no row.
create or replace function platform.cursor(mark text, record json, keys platform.sort_key[]) returns text
language plpgsql
stable
parallel safe
security invoker
as $$
declare
  v_position text := '[1, ' || to_json(mark);
  v_key platform.sort_key;
begin
  foreach v_key in array keys loop
    v_position := v_position || ', ' || (record->v_key.name);
  end loop;
  if v_position is null then
    raise exception 'a record of % lacks a field that the list is ordered by', mark;
  end if;
  return translate(encode(convert_to(v_position || ']', 'UTF8'), 'base64'), E'+/=\n', '-_');
end;
$$;

comment on function platform.cursor(text, json, platform.sort_key[]) is 'The cursor of a record in a list.';
grant execute on function platform.cursor(text, json, platform.sort_key[]) to sternpost_caller, sternpost_code;
