-- Removes the authenticator of the caller, and with the last second factor the recovery codes. It returns ok, what the
-- caller must show first, as platform.auth_needs does, or missing if there is none.
create or replace function platform.auth_totp_remove(identity_id text, token text) returns text
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

  delete from platform.auth_totp
  where auth_totp.identity_id = auth_totp_remove.identity_id
    and auth_totp.secret is not null;
  if not found then
    return 'missing';
  end if;

  if platform.auth_factors(identity_id) = '{}' then
    perform platform.auth_recovery_set(identity_id, '{}');
  end if;
  return 'ok';
end;
$$;

comment on function platform.auth_totp_remove(text, text) is 'Removes the authenticator of the caller.';
grant execute on function platform.auth_totp_remove(text, text) to sternpost_server;
