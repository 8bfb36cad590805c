-- Whether a token would set a new password now. A server asks before it hashes the new password, which takes processor
-- time.
create or replace function platform.auth_is_proof(token_hash bytea) returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from platform.auth_proof
    where auth_proof.hash = token_hash
      and auth_proof.purpose = 'resetPassword'
      and auth_proof.identity_id is not null
      and auth_proof.ends_at > now()
  );
$$;

comment on function platform.auth_is_proof(bytea) is 'Whether a token would set a new password now.';
grant execute on function platform.auth_is_proof(bytea) to sternpost_server;
