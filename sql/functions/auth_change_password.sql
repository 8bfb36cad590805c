-- Sets a new password for an identity whose old password matched. It ends all sign-ins except the present one: spared
-- is the SHA-256 of its key, or null if that is not known. It voids the tokens that would let somebody else back in. It
-- checks the counts again, as platform.auth_password_accept does. is_changed is false if the client has to wait, or if
-- the identity has another password by now.
create or replace function platform.auth_change_password(
  identity_id text,
  password text,
  new_password text,
  spared bytea,
  account text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  out wait integer,
  out is_changed boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  is_changed := false;
  perform platform.auth_lock(account, address);
  wait := platform.auth_wait(account, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  update app.identity
  set password = new_password
  where identity.id = auth_change_password.identity_id
    and identity.password = auth_change_password.password;
  if not found then
    return;
  end if;
  is_changed := true;

  delete from platform.auth_proof
  where auth_proof.identity_id = auth_change_password.identity_id
    and auth_proof.purpose <> 'verifyEmail';

  perform platform.auth_end(identity_id, spared);
  perform platform.auth_clear(account, address);
end;
$$;

comment on function platform.auth_change_password(
  text, text, text, bytea, text, text, integer, integer, integer, interval
) is 'Sets a new password for an identity whose old one matched, and ends its other sign-ins.';
grant execute on function platform.auth_change_password(
  text, text, text, bytea, text, text, integer, integer, integer, interval
) to sternpost_server;
