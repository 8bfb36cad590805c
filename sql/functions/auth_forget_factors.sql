-- Removes all second factors of an identity, its links to providers, and sign-ins that wait for one. Not granted to any role: only functions beside
-- it use it.
create or replace function platform.auth_forget_factors(identity_id text) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from platform.auth_totp
  where auth_totp.identity_id = auth_forget_factors.identity_id;

  delete from platform.auth_passkey
  where auth_passkey.identity_id = auth_forget_factors.identity_id;

  delete from platform.auth_recovery_code
  where auth_recovery_code.identity_id = auth_forget_factors.identity_id;

  delete from platform.auth_link
  where auth_link.identity_id = auth_forget_factors.identity_id;

  delete from platform.auth_pending
  where auth_pending.identity_id = auth_forget_factors.identity_id;
end;
$$;

comment on function platform.auth_forget_factors(text) is 'Removes all second factors of an identity.';
