-- What is known about an identity whose account is to change, or nothing if it does not exist. is_over tells that the
-- access token is; is_password, that the identity signs in by password.
create or replace function platform.auth_account(
  identity_id text,
  token text,
  out is_there boolean,
  out is_over boolean,
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
  select identity.email, identity.email_verified, identity.password is not null
  from app.identity
  where identity.id = auth_account.identity_id
  into email, is_verified, is_password;
  is_there := found;
  is_over := exists (
    select
    from platform.caller_validity as validity
    where validity.identity_id = auth_account.identity_id
      and platform.is_over(validity.valid_from, auth_account.identity_id, token)
  );
end;
$$;

comment on function platform.auth_account(text, text) is 'The state of an identity whose account is to change.';
grant execute on function platform.auth_account(text, text) to sternpost_server;
