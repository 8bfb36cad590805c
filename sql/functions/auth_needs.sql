-- What the owner of an access token must show in its sign-in before it may change a factor or end other sign-ins; null if
-- nothing, since it was shown within the last five minutes. If the identity has a second factor, only that counts. Not
-- granted to any role: only functions beside it use it.
--
--   secondFactor   a second factor, which the sign-in lacks
--   recentSignIn   a credential, again
create or replace function platform.auth_needs(identity_id text, token text) returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lately constant timestamptz := now() - interval '5 minutes';
  v_has_second boolean := platform.auth_factors(identity_id) <> '{}';
  v_family platform.auth_family;
begin
  select auth_family.*
  from platform.auth_family
  where auth_family.identity_id = auth_needs.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
    and platform.session_name(auth_family.key) = split_part(token, ' ', 2)
  into v_family;

  return case
    when v_has_second and v_family.second_at is null then 'secondFactor'
    when v_has_second and v_family.second_at > v_lately then null
    when not v_has_second and coalesce(v_family.shown_at, v_family.created_at) > v_lately then null
    else 'recentSignIn'
  end;
end;
$$;

comment on function platform.auth_needs(text, text) is 'What the caller must show before it may change a factor or end other sign-ins.';
