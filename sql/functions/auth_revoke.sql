-- Revokes the family of a refresh token: of the newest or a superseded one, kept or not. An unknown token changes
-- nothing.
create or replace function platform.auth_revoke(token_hash bytea, mark bytea) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.auth_family
  set revoked_at = now()
  where auth_family.id = platform.auth_family_id(token_hash, auth_revoke.mark)
    and auth_family.revoked_at is null;
$$;

comment on function platform.auth_revoke(bytea, bytea) is 'Revokes the family of a refresh token.';
grant execute on function platform.auth_revoke(bytea, bytea) to sternpost_server;
