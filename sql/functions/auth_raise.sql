-- Notes that the owner of a sign-in has shown a credential again, and whether that is a second factor. False if the sign-in has ended. Not granted to any role:
-- only functions beside it use it.
create or replace function platform.auth_raise(identity_id text, session text, is_second boolean) returns boolean
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  update platform.auth_family
  set
    shown_at = now(),
    second_at = case when is_second then now() else auth_family.second_at end
  where auth_family.identity_id = auth_raise.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
    and platform.session_name(auth_family.key) = session;
  return found;
end;
$$;

comment on function platform.auth_raise(text, text, boolean) is 'Notes that the owner of a sign-in has shown a credential again.';
