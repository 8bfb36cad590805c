-- Takes a token that was sent to an e-mail address, once: it deletes the row and locks its identity. If several
-- requests present the token at once, one gets it. identity_id is null if the token is unknown, used, expired or for
-- another purpose, or if the identity has another address by now. Not granted to any role: only functions beside it use
-- it.
create or replace function platform.auth_take_proof(token_hash bytea, purposes text[]) returns platform.auth_proof
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_identity_id text;
  v_proof platform.auth_proof;
begin
  select auth_proof.identity_id
  from platform.auth_proof
  where auth_proof.hash = token_hash
  into v_identity_id;

  -- The identity comes first, so that transactions with different tokens of one identity take turns.
  perform
  from app.identity
  where identity.id = v_identity_id
  for update;

  delete from platform.auth_proof
  using app.identity
  where auth_proof.hash = token_hash
    and auth_proof.purpose = any (purposes)
    and auth_proof.ends_at > now()
    and identity.id = auth_proof.identity_id
    and identity.email = auth_proof.email
  returning auth_proof.* into v_proof;
  return v_proof;
end;
$$;

comment on function platform.auth_take_proof(bytea, text[]) is 'Takes a token that was sent to an e-mail address, once.';
