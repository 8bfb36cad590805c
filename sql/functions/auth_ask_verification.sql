-- Asks an identity to prove its e-mail address. It keeps a token and the mail with the token. It counts like a refused
-- token of the client address. It keeps nothing if the identity has another address by now, has proven it, or has got
-- enough mails. It returns the seconds to wait.
create or replace function platform.auth_ask_verification(
  identity_id text,
  email text,
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
begin
  perform platform.auth_lock(email, address);
  v_wait := platform.auth_fail(null, address, per_account_and_address, per_account, per_address, span);
  if v_wait > 0 then
    return v_wait;
  end if;

  perform
  from app.identity
  where identity.id = auth_ask_verification.identity_id
    and identity.email = auth_ask_verification.email
    and not identity.email_verified
    and platform.mail_allowed('verifyEmail', auth_ask_verification.email);
  if found then
    insert into platform.auth_proof (hash, purpose, identity_id, email, ends_at)
    values (token_hash, 'verifyEmail', auth_ask_verification.identity_id, auth_ask_verification.email, now() + lifetime);
    perform platform.mail_queue('verifyEmail', email, content, lifetime);
  end if;
  return 0;
end;
$$;

comment on function platform.auth_ask_verification(
  text, text, text, integer, integer, integer, interval, bytea, interval, bytea
) is 'Asks an identity to prove its e-mail address, by mail; returns the seconds to wait.';
grant execute on function platform.auth_ask_verification(
  text, text, text, integer, integer, integer, interval, bytea, interval, bytea
) to sternpost_server;
