-- Removes a passkey of the caller, or for null the authenticator app, and with the last second factor the recovery codes.
-- It returns ok, what the caller must show first, as platform.auth_needs does, or missing if there is none.
create or replace function platform.auth_factor_remove(identity_id text, token text, passkey text) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_needs constant text := platform.auth_needs(identity_id, token);
begin
  if v_needs is not null then
    return v_needs;
  end if;

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
    return 'missing';
  end if;

  if platform.auth_factors(identity_id) = '{}' then
    perform platform.auth_recovery_set(identity_id, '{}');
  end if;
  return 'ok';
end;
$$;

comment on function platform.auth_factor_remove(text, text, text) is 'Removes a second factor of the caller.';
grant execute on function platform.auth_factor_remove(text, text, text) to sternpost_server;
