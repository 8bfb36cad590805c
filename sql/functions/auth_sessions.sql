-- The sign-ins of an identity, the one used last first, as a JSON array. token tells which of them is the caller's.
create or replace function platform.auth_sessions(identity_id text, token text) returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    json_agg(
      json_build_object(
        'id', platform.session_name(auth_family.key),
        'isCurrent', platform.session_name(auth_family.key) = split_part(coalesce(token, ''), ' ', 2),
        'createdAt', platform.iso(auth_family.created_at),
        'usedAt', platform.iso(coalesce(auth_family.used_at, auth_family.created_at)),
        'endsAt', platform.iso(auth_family.ends_at),
        'address', auth_family.address,
        'client', auth_family.agent
      )
      order by coalesce(auth_family.used_at, auth_family.created_at) desc, auth_family.id desc
    ),
    '[]'
  )::text
  from platform.auth_family
  where auth_family.identity_id = auth_sessions.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now();
$$;

comment on function platform.auth_sessions(text, text) is 'The sign-ins of an identity.';
grant execute on function platform.auth_sessions(text, text) to sternpost_server;
