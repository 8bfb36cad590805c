-- Ends the caller's link to a provider. The caller must have shown a credential lately.
--
--   ok        it has ended
--   missing   there is none
--   last      the caller has no other way to sign in: neither a password nor a provider nor a passkey
create or replace function platform.auth_link_remove(identity_id text, token text, provider text) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_has_other boolean;
begin
  perform platform.auth_require(identity_id, token);

  -- Of two removals at once, the second sees what the first one has left.
  select identity.password is not null or identity.external_id is not null
  from app.identity
  where identity.id = auth_link_remove.identity_id
  for update
  into v_has_other;

  if not v_has_other
    and not exists (
      select
      from platform.auth_passkey
      where auth_passkey.identity_id = auth_link_remove.identity_id
        and auth_passkey.is_alone
    )
    and not exists (
      select
      from platform.auth_link
      where auth_link.identity_id = auth_link_remove.identity_id
        and auth_link.provider <> auth_link_remove.provider
    )
  then
    return 'last';
  end if;

  delete from platform.auth_link
  where auth_link.identity_id = auth_link_remove.identity_id
    and auth_link.provider = auth_link_remove.provider;
  return case when found then 'ok' else 'missing' end;
end;
$$;

comment on function platform.auth_link_remove(text, text, text) is 'Ends the caller''s link to a provider.';
grant execute on function platform.auth_link_remove(text, text, text) to sternpost_server;
