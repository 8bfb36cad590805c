-- What is known about an identity whose account is to change, or nothing if it does not exist. is_password tells
-- whether it signs in by password at this issuer.
create or replace function platform.auth_account(
  identity_id text,
  issuer text,
  out is_there boolean,
  out email text,
  out is_verified boolean,
  out is_password boolean
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select identity.email, identity.email_verified, identity.issuer = auth_account.issuer and identity.password is not null
  from app.identity
  where identity.id = auth_account.identity_id
  into email, is_verified, is_password;
  is_there := found;
end;
$$;

comment on function platform.auth_account(text, text) is 'The state of an identity whose account is to change.';
grant execute on function platform.auth_account(text, text) to sternpost_server;
