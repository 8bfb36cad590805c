-- The address that a token invites, and the account that signs in there by password, if there is one. email is null if the
-- token is invalid.
create or replace function platform.auth_invitation(
  token_hash bytea,
  issuer text,
  out email text,
  out identity_id text,
  out password text,
  out is_verified boolean
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select auth_proof.email, identity.id, identity.password, identity.email_verified
  from platform.auth_proof
  left join app.identity on identity.email = auth_proof.email and identity.password is not null
  where auth_proof.hash = token_hash
    and auth_proof.purpose = 'invitation'
    and auth_proof.ends_at > now()
  order by identity.issuer = auth_invitation.issuer desc
  limit 1
  into email, identity_id, password, is_verified;
end;
$$;

comment on function platform.auth_invitation(bytea, text) is 'The address that a token invites, and its account.';
grant execute on function platform.auth_invitation(bytea, text) to sternpost_server;
