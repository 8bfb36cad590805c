-- Asks for a new password. It keeps a token for the identity that signs in with this e-mail address, and the mail with
-- the token. It counts like a refused token of the client address, and not against passwords, so that nobody keeps a
-- user from signing in. If no identity has the address, or if that has got enough mails, it writes the same rows for
-- nobody, so that neither the answer nor the time tells which case it is. It returns the seconds to wait; then nothing
-- is kept.
create or replace function platform.auth_ask_reset(
  email text,
  issuer text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  token_hash bytea,
  lifetime interval,
  content bytea
) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wait integer;
  v_identity_id text;
begin
  perform platform.auth_lock(email, address);
  v_wait := platform.auth_fail(null, address, per_account_and_address, per_account, per_address, span);
  if v_wait > 0 then
    return v_wait;
  end if;

  select identity.id
  from app.identity
  where identity.email = auth_ask_reset.email
    and identity.password is not null
    and platform.mail_allowed('resetPassword', auth_ask_reset.email)
  order by identity.issuer = auth_ask_reset.issuer desc
  limit 1
  into v_identity_id;

  insert into platform.auth_proof (hash, purpose, identity_id, email, ends_at)
  values (token_hash, 'resetPassword', v_identity_id, auth_ask_reset.email, now() + lifetime);
  perform platform.mail_queue('resetPassword', case when v_identity_id is not null then email end, content, lifetime);
  return 0;
end;
$$;

comment on function platform.auth_ask_reset(text, text, text, integer, integer, integer, interval, bytea, interval, bytea) is
  'Asks for a new password, by mail; returns the seconds to wait.';
grant execute on function platform.auth_ask_reset(text, text, text, integer, integer, integer, interval, bytea, interval, bytea)
to sternpost_server;
