-- The account whose address a token would prove or change, which is not used up. identity_id is null if the token is
-- invalid. Who opens the link must show that the account is theirs, so that nobody proves an address for a stranger.
create or replace function platform.auth_proof_find(
  token_hash bytea,
  out identity_id text,
  out email text,
  out created_at timestamptz
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select identity.id, identity.email, identity.created_at
  from platform.auth_proof
  join app.identity on identity.id = auth_proof.identity_id and identity.email = auth_proof.email
  where auth_proof.hash = token_hash
    and auth_proof.purpose in ('verifyEmail', 'changeEmail')
    and auth_proof.ends_at > now()
  into identity_id, email, created_at;
end;
$$;

comment on function platform.auth_proof_find(bytea) is 'The account whose address a token would prove or change.';
grant execute on function platform.auth_proof_find(bytea) to sternpost_server;
