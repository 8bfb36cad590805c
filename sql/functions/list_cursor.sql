-- A position in a list as clients get it: base64url of a JSON array of the version, the list's mark (platform.list_mark), and the
-- row's sort values. Stays inlinable: every page calls it twice. One translate would do, at the price of all else: it searches
-- its list for each character.
create or replace function platform.list_cursor(place json) returns text
language sql
stable
parallel safe
security invoker
as $$
  select replace(
    replace(rtrim(replace(encode(convert_to(place::text, 'UTF8'), 'base64'), E'\n', ''), '='), '+', '-'),
    '/',
    '_'
  );
$$;

comment on function platform.list_cursor(json) is 'A position in a list as clients get it.';
grant execute on function platform.list_cursor(json) to sternpost_caller, sternpost_code;
