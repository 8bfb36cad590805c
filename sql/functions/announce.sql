-- Tells servers, when the transaction commits, that there is a newer release. Where a database has no notifications, they
-- find it by themselves: each asks every few seconds. Granted to nobody.
create or replace function platform.announce(number bigint) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('sternpost_release', number::text);
exception
  when feature_not_supported or undefined_function or insufficient_privilege then
    null; -- there are none
end;
$$;

comment on function platform.announce(bigint) is 'Tells servers that there is a newer release.';
