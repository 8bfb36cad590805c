-- Ends a sign-in of the caller, or all but the caller's own if session is null. For others than the own one, a credential
-- must have been shown within the last five minutes: somebody who has stolen a session must not keep its owner out. False
-- if the caller has no such sign-in.
create or replace function platform.auth_end_session(identity_id text, token text, session text) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own constant text := split_part(token, ' ', 2);
begin
  if session is distinct from v_own then
    perform platform.auth_require(identity_id, token);
  end if;

  if session is null then
    perform platform.auth_end(
      auth_end_session.identity_id,
      (
        select sha256(auth_family.key)
        from platform.auth_family
        where auth_family.identity_id = auth_end_session.identity_id
          and platform.session_name(auth_family.key) = v_own
      )
    );
    return true;
  end if;

  update platform.auth_family
  set revoked_at = now()
  where auth_family.identity_id = auth_end_session.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
    and platform.session_name(auth_family.key) = session;
  return found;
end;
$$;

comment on function platform.auth_end_session(text, text, text) is 'Ends a sign-in of the caller, or all of them but the caller''s own.';
grant execute on function platform.auth_end_session(text, text, text) to sternpost_server;
