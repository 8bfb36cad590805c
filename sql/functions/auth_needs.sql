-- What the owner of an access token must show in its sign-in before it may change a factor or end other sign-ins; null if
-- nothing, since it was shown within the last five minutes. If the identity has a second factor, only that counts.
--
--   secondFactor   a second factor, which the sign-in lacks
--   recentSignIn   a credential, again
create or replace function platform.auth_needs(identity_id text, token text) returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when shown.shown_at > now() - interval '5 minutes' then null
    when shown.has_second and shown.methods is null then 'secondFactor'
    else 'recentSignIn'
  end
  from platform.auth_shown(identity_id, split_part(token, ' ', 2)) as shown;
$$;

comment on function platform.auth_needs(text, text) is 'What the caller must show before it may change a factor or end other sign-ins.';
grant execute on function platform.auth_needs(text, text) to sternpost_server;
