-- Removes a passkey of the caller, or for null the authenticator app, and with the last second factor the recovery codes.
-- False if there is none.
create or replace function platform.auth_factor_remove(identity_id text, token text, passkey text) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.auth_require(identity_id, token);

  if passkey is not null then
    delete from platform.auth_passkey
    where auth_passkey.id = passkey
      and auth_passkey.identity_id = auth_factor_remove.identity_id;
  else
    delete from platform.auth_totp
    where auth_totp.identity_id = auth_factor_remove.identity_id
      and auth_totp.secret is not null;
  end if;
  if not found then
    return false;
  end if;

  if platform.auth_factors(identity_id) = '{}' then
    perform platform.auth_recovery_set(identity_id, '{}');
  end if;
  return true;
end;
$$;

comment on function platform.auth_factor_remove(text, text, text) is 'Removes a second factor of the caller.';
grant execute on function platform.auth_factor_remove(text, text, text) to sternpost_server;
