-- The hash that is kept of a client address from which an account was signed in to. Not granted to any role: only
-- functions beside it use it.
create or replace function platform.auth_address_hash(account text, address text) returns bytea
language sql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select sha256(convert_to(address || ' ' || account, 'UTF8'));
$$;

comment on function platform.auth_address_hash(text, text) is 'The hash of a client address from which an account was signed in to.';
