-- Remembers a browser that is being sent to a provider. hash is that of the state which the provider is to send back; whoever
-- brings it, and the cookie, within the lifetime, goes on with the sign-in.
create or replace function platform.auth_signin_begin(
  hash bytea,
  provider text,
  target text,
  is_dynamic boolean,
  state text,
  challenge text,
  challenge_method text,
  nonce text,
  verifier text,
  cookie_hash bytea,
  lifetime interval
) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into platform.auth_transaction (
    hash,
    provider,
    target,
    is_dynamic,
    state,
    challenge,
    challenge_method,
    nonce,
    verifier,
    cookie_hash,
    expires_at
  )
  values (hash, provider, target, is_dynamic, state, challenge, challenge_method, nonce, verifier, cookie_hash, now() + lifetime);
$$;

comment on function platform.auth_signin_begin(bytea, text, text, boolean, text, text, text, text, text, bytea, interval) is
  'Remembers a browser that is being sent to a provider.';
grant execute on function platform.auth_signin_begin(bytea, text, text, boolean, text, text, text, text, text, bytea, interval)
  to sternpost_server;
