-- Ends the sign-ins of a deleted identity, and deletes its keys and the tokens that were sent to it, so that no
-- identity with the same id inherits them. It runs with the rights of its owner, since a role that deletes an identity
-- does not have rights on platform.auth_family.
create or replace function platform.tg_sign_out() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update platform.auth_family
  set revoked_at = now()
  where auth_family.identity_id = old.id
    and auth_family.revoked_at is null;

  delete from platform.caller_validity
  where caller_validity.identity_id = old.id;

  delete from platform.auth_known_address
  where auth_known_address.identity_id = old.id;

  perform platform.auth_forget_factors(old.id);

  delete from platform.auth_proof
  where auth_proof.identity_id = old.id;

  delete from platform.auth_key
  where auth_key.identity_id = old.id;
  return null;
end;
$$;

comment on function platform.tg_sign_out() is 'Revokes the refresh tokens of a deleted identity, and deletes its keys and tokens.';
