-- The owner of a key, and whether the key has expired; identity_id is null if the key is unknown or revoked.
create or replace function platform.auth_key_find(hash bytea, out identity_id text, out is_expired boolean)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select auth_key.identity_id, auth_key.ends_at <= now()
  from platform.auth_key
  where auth_key.hash = auth_key_find.hash
    and auth_key.revoked_at is null;
$$;

comment on function platform.auth_key_find(bytea) is 'The owner of a key.';
grant execute on function platform.auth_key_find(bytea) to sternpost_server;
