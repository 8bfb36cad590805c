-- Revokes the family of a refresh token, be it the newest or a superseded one. An unknown token changes nothing.
create or replace function platform.auth_revoke(token_hash bytea) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.auth_family
  set revoked_at = now()
  from platform.auth_refresh_token
  where auth_refresh_token.hash = token_hash
    and auth_family.id = auth_refresh_token.family_id
    and auth_family.revoked_at is null;
$$;

comment on function platform.auth_revoke(bytea) is 'Revokes the family of a refresh token.';
grant execute on function platform.auth_revoke(bytea) to sternpost_server;
