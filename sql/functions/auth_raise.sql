-- Notes that the owner of a sign-in has shown a credential again. False if the sign-in has ended. Not granted to any role:
-- only functions beside it use it.
create or replace function platform.auth_raise(identity_id text, session text) returns boolean
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  update platform.auth_family
  set shown_at = now()
  where auth_family.identity_id = auth_raise.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
    and platform.session_name(auth_family.key) = session;
  return found;
end;
$$;

comment on function platform.auth_raise(text, text) is 'Notes that the owner of a sign-in has shown a credential again.';
