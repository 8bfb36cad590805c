-- The key under which a refresh token makes its successor; null if the token is unknown. A server asks for it before
-- platform.auth_refresh: it has the token, which the database never sees.
create or replace function platform.auth_family_key(token_hash bytea) returns bytea
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select auth_family.key
  from platform.auth_refresh_token
  join platform.auth_family on auth_family.id = auth_refresh_token.family_id
  where auth_refresh_token.hash = token_hash;
$$;

comment on function platform.auth_family_key(bytea) is 'The key under which a refresh token makes its successor.';
grant execute on function platform.auth_family_key(bytea) to sternpost_server;
