-- Tells the servers about a newer release when the transaction commits. If the database does not support notifications,
-- each server asks every few seconds instead. Not granted to any role.
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
