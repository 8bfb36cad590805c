-- Creates an identity that signs in by password, and begins its first family. Without a token_hash it does not begin
-- one, since the address has to be proven first. With a proof_hash it keeps a token that proves the address, and the
-- mail with the token. It counts like a failure, so that nobody creates identities by the thousand. is_created is false
-- if the client has to wait, or if the e-mail address is taken, perhaps by an identity that was created a moment
-- before, or by one without a password.
create or replace function platform.auth_password_create(
  email text,
  issuer text,
  password text,
  token_hash bytea,
  key bytea,
  lifetime interval,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  proof_hash bytea,
  proof_lifetime interval,
  content bytea,
  agent text default null,
  out wait integer,
  out is_created boolean,
  out identity_id text
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  is_created := false;
  perform platform.auth_lock(email, address);
  wait := platform.auth_wait(email, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  insert into app.identity (email, issuer, password)
  select auth_password_create.email, auth_password_create.issuer, auth_password_create.password
  where not exists (
    select
    from app.identity
    where identity.email = auth_password_create.email
      and identity.password is not null
  )
  on conflict do nothing
  returning identity.id into identity_id;
  if identity_id is null then
    return;
  end if;
  is_created := true;

  insert into platform.auth_failure (account, address, kind, is_cleared)
  values (auth_password_create.email, auth_password_create.address, 'identity', true);
  if token_hash is not null then
    perform platform.auth_start(identity_id, token_hash, key, lifetime, null, address, agent);
    perform platform.auth_remember(identity_id, email, address);
  end if;

  if proof_hash is not null and platform.mail_allowed('verifyEmail', email) then
    insert into platform.auth_proof (hash, purpose, identity_id, email, ends_at)
    values (
      proof_hash,
      'verifyEmail',
      auth_password_create.identity_id,
      auth_password_create.email,
      now() + proof_lifetime
    );
    perform platform.mail_queue('verifyEmail', email, content, proof_lifetime);
  end if;
end;
$$;

comment on function platform.auth_password_create(
  text, text, text, bytea, bytea, interval, text, integer, integer, integer, interval, bytea, interval, bytea, text
) is 'Creates an identity with a password, and begins its first family or asks it to prove its address.';
grant execute on function platform.auth_password_create(
  text, text, text, bytea, bytea, interval, text, integer, integer, integer, interval, bytea, interval, bytea, text
) to sternpost_server;
