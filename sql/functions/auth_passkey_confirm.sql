-- Gives the caller a passkey, which has answered a challenge, by its SHA-256 and its end, and raises the sign-in of the
-- caller. False if the challenge was used before or is too old, or if there is such a passkey.
create or replace function platform.auth_passkey_confirm(
  identity_id text,
  token text,
  id text,
  name text,
  public_key bytea,
  is_shared boolean,
  counter bigint,
  challenge bytea,
  challenge_ends_at timestamptz
) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.auth_require(identity_id, token);
  if not platform.auth_signin_take(challenge, challenge_ends_at) then
    return false;
  end if;

  insert into platform.auth_passkey (id, identity_id, name, public_key, is_shared, counter)
  values (
    auth_passkey_confirm.id,
    auth_passkey_confirm.identity_id,
    auth_passkey_confirm.name,
    auth_passkey_confirm.public_key,
    auth_passkey_confirm.is_shared,
    auth_passkey_confirm.counter
  )
  on conflict on constraint auth_passkey_pkey do nothing;
  if not found then
    return false;
  end if;

  perform platform.auth_raise(identity_id, split_part(token, ' ', 2), true);
  return true;
end;
$$;

comment on function platform.auth_passkey_confirm(text, text, text, text, bytea, boolean, bigint, bytea, timestamptz) is
  'Gives the caller a passkey.';
grant execute on function platform.auth_passkey_confirm(text, text, text, text, bytea, boolean, bigint, bytea, timestamptz) to sternpost_server;
