-- The providers that an identity is linked to, as a JSON array.
create or replace function platform.auth_links(identity_id text) returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    json_agg(
      json_build_object('provider', auth_link.provider, 'createdAt', platform.iso(auth_link.created_at))
      order by auth_link.created_at, auth_link.provider
    ),
    '[]'
  )::text
  from platform.auth_link
  where auth_link.identity_id = auth_links.identity_id;
$$;

comment on function platform.auth_links(text) is 'The providers that an identity is linked to.';
grant execute on function platform.auth_links(text) to sternpost_server;
