-- Ends the sign-ins of an identity and their access tokens, except the one whose key has this SHA-256 (null spares
-- none). It also deletes the codes of browsers that are on their way back from a provider, and sign-ins that wait for a
-- second factor. Not granted to any role: only functions beside it use it.
--
-- Codes come before the lock, and families after it, as in platform.auth_signin_redeem, so that two transactions cannot
-- wait for each other.
create or replace function platform.auth_end(identity_id text, spared bytea) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from platform.auth_code
  where auth_code.identity_id = auth_end.identity_id
    and auth_code.family_id is null;

  delete from platform.auth_pending
  where auth_pending.identity_id = auth_end.identity_id;

  -- A sign-in that began before this has its family now.
  perform pg_advisory_xact_lock(hashtextextended('sternpost identity ' || identity_id, 0));

  update platform.auth_family
  set revoked_at = now()
  where auth_family.identity_id = auth_end.identity_id
    and auth_family.revoked_at is null
    and sha256(auth_family.key) is distinct from spared;

  insert into platform.caller_validity (identity_id, valid_from)
  values (auth_end.identity_id, clock_timestamp())
  on conflict on constraint caller_validity_pkey do update set valid_from = excluded.valid_from;
end;
$$;

comment on function platform.auth_end(text, bytea) is 'Ends the sign-ins of an identity, except one.';
