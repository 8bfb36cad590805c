-- Whether the owner of an access token has shown a credential within the last five minutes, in its sign-in. Not granted to
-- any role: only functions beside it use it.
create or replace function platform.auth_is_fresh(identity_id text, token text) returns boolean
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from platform.auth_family
    where auth_family.identity_id = auth_is_fresh.identity_id
      and auth_family.revoked_at is null
      and auth_family.ends_at > now()
      and platform.session_name(auth_family.key) = split_part(token, ' ', 2)
      and coalesce(auth_family.shown_at, auth_family.created_at) > now() - interval '5 minutes'
  );
$$;

comment on function platform.auth_is_fresh(text, text) is 'Whether the caller has shown a credential within the last five minutes.';
