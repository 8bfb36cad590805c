-- Whether the sign-in of an access token goes on. An access token names it by the SHA-256 of its key, in base64url.
create or replace function platform.is_signed_in(identity_id text, token text) returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from platform.auth_family
    where auth_family.identity_id = is_signed_in.identity_id
      and auth_family.revoked_at is null
      and platform.session_name(auth_family.key) = split_part(token, ' ', 2)
  );
$$;

comment on function platform.is_signed_in(text, text) is 'Whether the sign-in of an access token goes on.';
grant execute on function platform.is_signed_in(text, text) to sternpost_caller, sternpost_code;
