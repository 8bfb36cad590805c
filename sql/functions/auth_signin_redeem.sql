-- Trades a code for a family of refresh tokens, once. Its first presentation consumes it in any case. A later one
-- revokes everything that was issued for it, since one of the two holders of the code must be a thief.
--
--   ok         the family has begun
--   refused    the code is unknown or too old, its client cannot prove that it began the sign-in, or its identity is gone
--   replayed   it was presented before: the family that came of it, if any, is revoked
--
-- A client that sent a challenge proves itself by a verifier: verifier_hash is the SHA-256 of that, challenge_hash the
-- SHA-256 of the S256 challenge made from it; both are null if it sent none. Digests are compared, so that the time it
-- takes tells nothing of what is kept. redirect_uri is compared byte by byte, for a target that the client named.
create or replace function platform.auth_signin_redeem(
  code_hash bytea,
  verifier_hash bytea,
  challenge_hash bytea,
  redirect_uri bytea,
  token_hash bytea,
  key bytea,
  lifetime interval,
  address text default null,
  agent text default null,
  out outcome text,
  out identity_id text,
  out is_identity_new boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_code platform.auth_code;
  v_is_verified boolean;
  v_is_target_right boolean;
begin
  outcome := 'refused';

  update platform.auth_code
  set consumed_at = clock_timestamp()
  where auth_code.hash = code_hash
    and auth_code.consumed_at is null
  returning auth_code.* into v_code;

  -- A client that presents the code at the same time waits above until this transaction ends, and comes here after it.
  if not found then
    update platform.auth_code
    set replayed_at = coalesce(auth_code.replayed_at, clock_timestamp())
    where auth_code.hash = code_hash
    returning auth_code.* into v_code;
    if found then
      outcome := 'replayed';
      identity_id := v_code.identity_id;
      update platform.auth_family
      set revoked_at = now()
      where auth_family.id = v_code.family_id
        and auth_family.revoked_at is null;
    end if;
    return;
  end if;

  if v_code.expires_at <= now() then
    return;
  end if;

  v_is_verified := case v_code.challenge_method
    when 'S256' then sha256(convert_to(v_code.challenge, 'UTF8')) = challenge_hash
    when 'plain' then sha256(convert_to(v_code.challenge, 'UTF8')) = verifier_hash
    else verifier_hash is null
  end;
  v_is_target_right := not v_code.is_dynamic or convert_to(v_code.target, 'UTF8') = redirect_uri;
  if v_is_verified is not true or v_is_target_right is not true then
    return;
  end if;

  if platform.auth_start(v_code.identity_id, token_hash, key, lifetime, code_hash, address, agent, v_code.second_at) then
    outcome := 'ok';
    identity_id := v_code.identity_id;
    is_identity_new := v_code.is_identity_new;
  end if;
end;
$$;

comment on function platform.auth_signin_redeem(bytea, bytea, bytea, bytea, bytea, bytea, interval, text, text) is
  'Trades a code for a family of refresh tokens, once; a second presentation revokes the family.';
grant execute on function platform.auth_signin_redeem(bytea, bytea, bytea, bytea, bytea, bytea, interval, text, text) to sternpost_server;
