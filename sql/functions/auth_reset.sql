-- Sets a new password by a token that was sent for it. It proves the e-mail address, ends all sign-ins, voids all other
-- tokens of the identity, ends its links to providers, and forgets the addresses of earlier sign-ins, so that an intruder
-- is locked out. Factors stay, but a passkey, which may be the intruder's, does not sign in without the new password. It
-- clears the failures of this account at this address. If the token is invalid, it returns false and changes nothing.
create or replace function platform.auth_reset(token_hash bytea, password text, address text) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proof platform.auth_proof := platform.auth_take_proof(token_hash, '{resetPassword}');
begin
  if v_proof.identity_id is null then
    return false;
  end if;

  update app.identity
  set
    password = auth_reset.password,
    email_verified = true
  where identity.id = v_proof.identity_id;

  delete from platform.auth_proof
  where auth_proof.identity_id = v_proof.identity_id;

  update platform.auth_passkey
  set is_alone = false
  where auth_passkey.identity_id = v_proof.identity_id;

  delete from platform.auth_link
  where auth_link.identity_id = v_proof.identity_id;

  delete from platform.auth_known_address
  where auth_known_address.identity_id = v_proof.identity_id;

  perform platform.auth_end(v_proof.identity_id, null);
  perform platform.auth_clear(v_proof.email, address);
  return true;
end;
$$;

comment on function platform.auth_reset(bytea, text, text) is 'Sets a new password by a token that was sent for it.';
grant execute on function platform.auth_reset(bytea, text, text) to sternpost_server;
