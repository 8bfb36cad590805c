-- Ends a sign-in of the caller, or all but the caller's own if session is null. For others than the own one, a credential
-- must have been shown within the last five minutes: somebody who has stolen a session must not keep its owner out.
--
--   ok        it has ended
--   missing   the caller has no such sign-in
--
-- Otherwise it returns what the caller must show first, as platform.auth_needs does.
create or replace function platform.auth_end_session(identity_id text, token text, session text) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own constant text := split_part(token, ' ', 2);
  v_needs text;
begin
  if session is distinct from v_own then
    v_needs := platform.auth_needs(identity_id, token);
    if v_needs is not null then
      return v_needs;
    end if;
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
    return 'ok';
  end if;

  update platform.auth_family
  set revoked_at = now()
  where auth_family.identity_id = auth_end_session.identity_id
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
    and platform.session_name(auth_family.key) = session;
  return case when found then 'ok' else 'missing' end;
end;
$$;

comment on function platform.auth_end_session(text, text, text) is 'Ends a sign-in of the caller, or all of them but the caller''s own.';
grant execute on function platform.auth_end_session(text, text, text) to sternpost_server;
