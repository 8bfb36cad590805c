-- The first half of showing a second factor: of a sign-in whose password was right, by the token for it, or of the sign-in
-- that session names. It tells whether the client may try now (wait is 0), which identity it is about (null if the token
-- or session is over), the secret of its authenticator, and the time. It counts the attempt before its result is known: a
-- token is good for five. Wrong codes count as wrong passwords do, for an account of their own, so that a right password
-- does not clear them.
create or replace function platform.auth_factor_try(
  pending_hash bytea,
  caller_id text,
  session text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  out wait integer,
  out identity_id text,
  out secret text,
  out tried_at timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most_tries constant integer := 5;
begin
  wait := 0;
  tried_at := now();
  if pending_hash is not null then
    select auth_pending.identity_id
    from platform.auth_pending
    where auth_pending.hash = pending_hash
    into identity_id;
  else
    select auth_family.identity_id
    from platform.auth_family
    where auth_family.identity_id = caller_id
      and auth_family.revoked_at is null
      and auth_family.ends_at > now()
      and platform.session_name(auth_family.key) = session
    into identity_id;
  end if;
  if identity_id is null then
    return;
  end if;

  perform platform.auth_lock('factor ' || identity_id, address);
  wait := platform.auth_wait('factor ' || identity_id, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  if pending_hash is not null then
    update platform.auth_pending
    set tries = auth_pending.tries + 1
    where auth_pending.hash = pending_hash
      and auth_pending.tries < v_most_tries
      and auth_pending.ends_at > now();
    if not found then
      identity_id := null;
      return;
    end if;
  end if;

  select auth_totp.secret
  from platform.auth_totp
  where auth_totp.identity_id = auth_factor_try.identity_id
  into secret;
end;
$$;

comment on function platform.auth_factor_try(bytea, text, text, text, integer, integer, integer, interval) is
  'Whether a second factor may be tried, and the secret that its code has to match.';
grant execute on function platform.auth_factor_try(bytea, text, text, text, integer, integer, integer, interval) to sternpost_server;
