-- A Duration as it goes over the wire, in Postgres' own ISO 8601 form: months carried into years, seconds into minutes and
-- hours, weeks written as days. The set clause makes it independent of the session; with it, PL/pgSQL is the cheapest form.
create or replace function platform.iso_duration(duration interval) returns text
language plpgsql
stable
parallel safe
security invoker
set intervalstyle = iso_8601
as $$
begin
  return duration::text;
end;
$$;

comment on function platform.iso_duration(interval) is 'A Duration as it goes over the wire.';
grant execute on function platform.iso_duration(interval) to sternpost_caller, sternpost_code;
