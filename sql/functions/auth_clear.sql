-- Clears the failures of an account at a client address, since its owner has signed in from there. Not granted to any
-- role: only functions beside it use it.
create or replace function platform.auth_clear(account text, address text) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  update platform.auth_failure
  set is_cleared = true
  where auth_failure.account = auth_clear.account
    and auth_failure.address = auth_clear.address
    and not auth_failure.is_cleared;
$$;

comment on function platform.auth_clear(text, text) is 'Clears the failures of an account at a client address.';
