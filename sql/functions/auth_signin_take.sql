-- What is known of a browser that comes back from a provider. Being looked up deletes it, whatever comes of it, so that a state
-- is good for one use; no row if it is unknown or its time is over. Whether the browser is the one that left is for the server to
-- compare, since it has the cookie.
create or replace function platform.auth_signin_take(state_hash bytea)
returns table (
  provider text,
  target text,
  is_dynamic boolean,
  state text,
  challenge text,
  challenge_method text,
  nonce text,
  verifier text,
  cookie_hash bytea
)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    delete from platform.auth_transaction
    where auth_transaction.hash = state_hash
    returning auth_transaction.*
  )
  select
    taken.provider,
    taken.target,
    taken.is_dynamic,
    taken.state,
    taken.challenge,
    taken.challenge_method,
    taken.nonce,
    taken.verifier,
    taken.cookie_hash
  from taken
  where taken.expires_at > now();
$$;

comment on function platform.auth_signin_take(bytea) is 'What is known of a browser that comes back from a provider, once.';
grant execute on function platform.auth_signin_take(bytea) to sternpost_server;
