-- The second half of a sign-in by password, after the password matched. It begins a family, or
-- raises the one that session names. It replaces the hash if a newer form of it is given, clears the count of this
-- account at this address, and remembers the address. First it checks the counts again: of concurrent requests, those
-- that come after a limit has been reached must not learn that their password was right. is_accepted is false if they
-- have to wait, if the identity has gone or has another password by now, or if the session has ended.
--
-- If the identity has second factors, it names them, and keeps pending_hash, that of the token for showing one, instead of
-- beginning or raising anything.
create or replace function platform.auth_password_accept(
  identity_id text,
  password text,
  new_password text,
  token_hash bytea,
  key bytea,
  lifetime interval,
  account text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  agent text default null,
  session text default null,
  pending_hash bytea default null,
  out wait integer,
  out is_accepted boolean,
  out factors text[]
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  is_accepted := false;
  perform platform.auth_lock(account, address);
  wait := platform.auth_wait(account, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  perform
  from app.identity
  where identity.id = auth_password_accept.identity_id
    and identity.password = auth_password_accept.password
  for update;
  if not found then
    return;
  end if;

  factors := platform.auth_factors(identity_id);
  if factors <> '{}' then
    insert into platform.auth_pending (hash, identity_id, ends_at)
    select pending_hash, auth_password_accept.identity_id, now() + interval '10 minutes'
    where pending_hash is not null;
    is_accepted := found;
    if is_accepted then
      perform platform.auth_clear(account, address);
    end if;
    return;
  end if;

  if not (
    case
      when session is not null then platform.auth_raise(identity_id, session, false)
      else platform.auth_start(identity_id, token_hash, key, lifetime, null, address, agent)
    end
  ) then
    return;
  end if;
  is_accepted := true;

  if new_password is not null then
    update app.identity
    set password = new_password
    where identity.id = auth_password_accept.identity_id;
  end if;

  perform platform.auth_clear(account, address);
  perform platform.auth_remember(identity_id, account, address);
end;
$$;

comment on function platform.auth_password_accept(
  text, text, text, bytea, bytea, interval, text, text, integer, integer, integer, interval, text, text, bytea
) is 'Begins a family for somebody whose password matched, and clears their failures.';
grant execute on function platform.auth_password_accept(
  text, text, text, bytea, bytea, interval, text, text, integer, integer, integer, interval, text, text, bytea
) to sternpost_server;
