-- Asks for another e-mail address of an identity whose password matched. It keeps a token, the mail that takes the
-- token to the new address, and the notice for the old address. It counts like a refused token of the client address. If
-- the new address has got enough mails, nothing is kept.
--
--   is_asked   false if the identity has another address or another password by now
--   wait       the seconds to wait; then nothing is kept
create or replace function platform.auth_ask_change(
  identity_id text,
  email text,
  password text,
  new_email text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  token_hash bytea,
  lifetime interval,
  content bytea,
  notice bytea,
  out wait integer,
  out is_asked boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  is_asked := false;
  perform platform.auth_lock(new_email, address);
  wait := platform.auth_fail(null, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  perform
  from app.identity
  where identity.id = auth_ask_change.identity_id
    and identity.email = auth_ask_change.email
    and identity.password = auth_ask_change.password
  for update;
  if not found then
    return;
  end if;
  is_asked := true;
  if not platform.mail_allowed('changeEmail', new_email) then
    return;
  end if;

  insert into platform.auth_proof (hash, purpose, identity_id, email, new_email, notice, ends_at)
  values (
    token_hash,
    'changeEmail',
    auth_ask_change.identity_id,
    auth_ask_change.email,
    auth_ask_change.new_email,
    auth_ask_change.notice,
    now() + lifetime
  );
  perform platform.mail_queue('changeEmail', new_email, content, lifetime);
end;
$$;

comment on function platform.auth_ask_change(
  text, text, text, text, text, integer, integer, integer, interval, bytea, interval, bytea, bytea
) is 'Asks for another e-mail address of an identity, by mail.';
grant execute on function platform.auth_ask_change(
  text, text, text, text, text, integer, integer, integer, interval, bytea, interval, bytea, bytea
) to sternpost_server;
