-- Lets the caller sign in as a subject of a provider, in place of an earlier one of that provider. The caller must have
-- shown a credential lately. ends is when the provider's answer expires.
--
--   ok           it is linked
--   expired      it is too late
--   taken        the subject is another identity's, or the caller's own
--   unverified   nobody has proven the address of the caller, whose password may be a stranger's
create or replace function platform.auth_link_add(
  identity_id text,
  token text,
  issuer text,
  external_id text,
  provider text,
  ends timestamptz
) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issuer constant text := rtrim(issuer, '/');
begin
  perform platform.auth_require(identity_id, token);
  if ends <= now() then
    return 'expired';
  end if;

  perform
  from app.identity
  where identity.id = auth_link_add.identity_id
    and (identity.password is null or identity.email_verified)
  for update;
  if not found then
    return 'unverified';
  end if;

  if exists (
    select
    from app.identity
    where identity.issuer in (v_issuer, v_issuer || '/')
      and identity.external_id = auth_link_add.external_id
  ) then
    return 'taken';
  end if;

  delete from platform.auth_link
  where auth_link.identity_id = auth_link_add.identity_id
    and auth_link.provider = auth_link_add.provider;

  insert into platform.auth_link (issuer, external_id, identity_id, provider)
  values (v_issuer, auth_link_add.external_id, auth_link_add.identity_id, auth_link_add.provider);
  return 'ok';
exception
  when unique_violation then
    return 'taken';
end;
$$;

comment on function platform.auth_link_add(text, text, text, text, text, timestamptz) is 'Lets the caller sign in as a subject of a provider.';
grant execute on function platform.auth_link_add(text, text, text, text, text, timestamptz) to sternpost_server;
