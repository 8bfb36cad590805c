-- Makes a proposed authenticator the one of its identity, after a code of it was right at step. It gives the identity new
-- recovery codes, by their SHA-256, and raises the sign-in of the caller. False if another secret was proposed meanwhile.
create or replace function platform.auth_totp_confirm(
  identity_id text,
  token text,
  secret text,
  step bigint,
  recovery bytea[]
) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.auth_require(identity_id, token);

  update platform.auth_totp
  set
    secret = auth_totp_confirm.secret,
    step = auth_totp_confirm.step,
    confirmed_at = now(),
    used_at = null,
    proposed = null,
    proposed_at = null
  where auth_totp.identity_id = auth_totp_confirm.identity_id
    and auth_totp.proposed = auth_totp_confirm.secret;
  if not found then
    return false;
  end if;

  perform platform.auth_recovery_set(identity_id, recovery);
  perform platform.auth_raise(identity_id, split_part(token, ' ', 2), true);
  return true;
end;
$$;

comment on function platform.auth_totp_confirm(text, text, text, bigint, bytea[]) is 'Makes a proposed authenticator the one of its identity.';
grant execute on function platform.auth_totp_confirm(text, text, text, bigint, bytea[]) to sternpost_server;
