-- The key that makes the successor of a refresh token; null if the token is unknown. A server asks for it before
-- platform.auth_refresh. The server has the token, which the database never sees. mark is the SHA-256 of the first part
-- of the token.
create or replace function platform.auth_family_key(token_hash bytea, mark bytea) returns bytea
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select auth_family.key
  from platform.auth_family
  where auth_family.id = platform.auth_family_id(token_hash, auth_family_key.mark);
$$;

comment on function platform.auth_family_key(bytea, bytea) is 'The key that makes the successor of a refresh token.';
grant execute on function platform.auth_family_key(bytea, bytea) to sternpost_server;
