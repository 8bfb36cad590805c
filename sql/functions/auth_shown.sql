-- What the owner of a sign-in has shown: when a credential was shown last, null if that was never, and how, by the names of
-- RFC 8176: mfa for a second factor. If the identity has a second factor, only that one counts.
create or replace function platform.auth_shown(
  identity_id text,
  session text,
  out shown_at timestamptz,
  out methods text[],
  out has_second boolean
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  has_second := platform.auth_factors(identity_id) <> '{}';
  select
    case when has_second then auth_family.second_at else coalesce(auth_family.shown_at, auth_family.created_at) end,
    case when auth_family.second_at is not null then '{mfa}'::text[] end
  from platform.auth_family
  where auth_family.identity_id = auth_shown.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
    and platform.session_name(auth_family.key) = session
  into shown_at, methods;
end;
$$;

comment on function platform.auth_shown(text, text) is 'What the owner of a sign-in has shown, and when.';
grant execute on function platform.auth_shown(text, text) to sternpost_server;
