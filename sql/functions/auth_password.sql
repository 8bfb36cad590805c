-- The first half of a sign-in by password: whether the client may try at all (wait is 0), and who has this e-mail address among
-- the identities that sign in here, with the hash of their password. Nobody has it if identity_id is null.
create or replace function platform.auth_password(
  email text,
  issuer text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval,
  out wait integer,
  out identity_id text,
  out password text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  wait := platform.auth_wait(email, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  select identity.id, identity.password
  from app.identity
  where identity.email = auth_password.email
    and identity.issuer = auth_password.issuer
    and identity.password is not null
  into identity_id, password;
end;
$$;

comment on function platform.auth_password(text, text, text, integer, integer, integer, interval) is
  'Whether a password may be tried, and the hash that it has to match.';
grant execute on function platform.auth_password(text, text, text, integer, integer, integer, interval) to sternpost_server;
