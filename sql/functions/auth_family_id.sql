-- The family of a refresh token, whether the token is kept or not; null if it is not in a family. Not granted to any
-- role: only functions beside it use it.
create or replace function platform.auth_family_id(token_hash bytea, mark bytea) returns bigint
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select auth_refresh_token.family_id from platform.auth_refresh_token where auth_refresh_token.hash = token_hash),
    (select auth_family.id from platform.auth_family where auth_family.mark = auth_family_id.mark)
  );
$$;

comment on function platform.auth_family_id(bytea, bytea) is 'The family of a refresh token, also of one that is no longer kept.';
