-- Gives the caller a passkey, which has answered a challenge, by its SHA-256 and its end, and raises the sign-in of the
-- caller. It returns ok, what the caller must show first, as platform.auth_needs does, or missing if the challenge was used
-- before or is too old, or if there is such a passkey.
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
) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_needs constant text := platform.auth_needs(identity_id, token);
begin
  if v_needs is not null then
    return v_needs;
  end if;
  if not platform.auth_signin_take(challenge, challenge_ends_at) then
    return 'missing';
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
    return 'missing';
  end if;

  perform platform.auth_raise(identity_id, split_part(token, ' ', 2), true);
  return 'ok';
end;
$$;

comment on function platform.auth_passkey_confirm(text, text, text, text, bytea, boolean, bigint, bytea, timestamptz) is
  'Gives the caller a passkey.';
grant execute on function platform.auth_passkey_confirm(text, text, text, text, bytea, boolean, bigint, bytea, timestamptz) to sternpost_server;
