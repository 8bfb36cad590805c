-- For update and delete, if no row was found, no rule can have hidden one, and the caller is known to exist. In other
-- cases, platform.refuse_or_miss looks again.
create or replace function platform.miss() returns void
language plpgsql
volatile
security invoker
as $$
begin
  raise exception 'record not found' using errcode = 'SP404';
end;
$$;

comment on function platform.miss() is 'Ends the call: the row does not exist.';
grant execute on function platform.miss() to sternpost_caller, sternpost_code;
