-- The second half of showing a second factor. The code of the authenticator matched at step; or recovery is the SHA-256 of
-- a recovery code, which is compared here; or passkey is the id of one that has signed a challenge, by its SHA-256 and its
-- end, and counts its signatures. Each works once: of requests that show the same one at the same time, on any servers, one
-- is accepted. It begins a family, and the token for the second factor is used up, or it raises the sign-in that session
-- names. A passkey needs neither, unless the password was reset since. First it checks the counts again, as platform.auth_password_accept does; nobody guesses a
-- passkey. is_accepted is false if the client has to wait, if the code or the challenge was used before, if the passkey has
-- counted further before, or if the token or the session is over by now.
create or replace function platform.auth_factor_accept(
  identity_id text,
  pending_hash bytea,
  session text,
  step bigint,
  recovery bytea,
  passkey text,
  counter bigint,
  challenge bytea,
  challenge_ends_at timestamptz,
  token_hash bytea,
  key bytea,
  lifetime interval,
  agent text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  out wait integer,
  out is_accepted boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_account constant text := 'factor ' || identity_id;
begin
  is_accepted := false;
  wait := 0;
  perform platform.auth_lock(v_account, address);
  if passkey is null then
    wait := platform.auth_wait(v_account, address, per_account_and_address, per_account, per_address, span);
    if wait > 0 then
      return;
    end if;
  end if;

  if session is null and (passkey is null or pending_hash is not null) then
    perform
    from platform.auth_pending
    where auth_pending.hash = pending_hash
      and auth_pending.identity_id = auth_factor_accept.identity_id
      and auth_pending.ends_at > now()
    for update;
    if not found then
      return;
    end if;
  end if;

  if passkey is not null then
    if not platform.auth_signin_take(challenge, challenge_ends_at) then
      return;
    end if;
    update platform.auth_passkey
    set
      counter = auth_factor_accept.counter,
      used_at = now(),
      is_alone = true
    where auth_passkey.id = passkey
      and (auth_passkey.is_alone or pending_hash is not null or session is not null)
      and auth_passkey.identity_id = auth_factor_accept.identity_id
      and (auth_passkey.counter < auth_factor_accept.counter or auth_passkey.counter = 0 and auth_factor_accept.counter = 0);
  elsif recovery is not null then
    delete from platform.auth_recovery_code
    where auth_recovery_code.identity_id = auth_factor_accept.identity_id
      and auth_recovery_code.hash = recovery
      and platform.auth_factors(auth_factor_accept.identity_id) <> '{}';
  else
    update platform.auth_totp
    set
      step = auth_factor_accept.step,
      used_at = now()
    where auth_totp.identity_id = auth_factor_accept.identity_id
      and auth_totp.secret is not null
      and auth_totp.step < auth_factor_accept.step;
  end if;
  if not found or not (
    case
      when session is not null then platform.auth_raise(identity_id, session, true)
      else platform.auth_start(identity_id, token_hash, key, lifetime, null, address, agent, now())
    end
  ) then
    return;
  end if;
  is_accepted := true;

  delete from platform.auth_pending
  where auth_pending.hash = pending_hash;

  perform platform.auth_clear(v_account, address);
  perform platform.auth_remember(identity_id, v_account, address);
  perform platform.auth_remember(identity.id, identity.email, auth_factor_accept.address)
  from app.identity
  where identity.id = auth_factor_accept.identity_id
    and identity.email is not null;
end;
$$;

comment on function platform.auth_factor_accept(
  text, bytea, text, bigint, bytea, text, bigint, bytea, timestamptz, bytea, bytea, interval, text, text, integer, integer, integer,
  interval
) is 'Begins or raises a family for somebody who has shown a second factor, once for each code.';
grant execute on function platform.auth_factor_accept(
  text, bytea, text, bigint, bytea, text, bigint, bytea, timestamptz, bytea, bytea, interval, text, text, integer, integer, integer,
  interval
) to sternpost_server;
