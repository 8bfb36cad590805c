-- Names a list and its order, so that a cursor of one is not taken by another.
create or replace function platform.list_mark(action text, keys platform.sort_key[]) returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_mark text := action;
  v_key platform.sort_key;
begin
  foreach v_key in array keys loop
    v_mark := v_mark || case when v_key.is_descending then '-' else '+' end || v_key.name;
  end loop;
  return v_mark;
end;
$$;

comment on function platform.list_mark(text, platform.sort_key[]) is 'A list and its order, as a cursor names them.';
grant execute on function platform.list_mark(text, platform.sort_key[]) to sternpost_caller, sternpost_code;
