-- The passkey of that id: whose it is, what its signatures are checked with, and whether it may be copied; null if there is
-- none.
create or replace function platform.auth_passkey_find(id text, out identity_id text, out public_key bytea, out is_shared boolean)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select auth_passkey.identity_id, auth_passkey.public_key, auth_passkey.is_shared
  from platform.auth_passkey
  where auth_passkey.id = auth_passkey_find.id;
$$;

comment on function platform.auth_passkey_find(text) is 'The passkey of that id.';
grant execute on function platform.auth_passkey_find(text) to sternpost_server;
