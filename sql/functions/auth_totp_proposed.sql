-- The secret of an authenticator that waits to be confirmed, null if none does, and the time.
create or replace function platform.auth_totp_proposed(identity_id text, out secret text, out asked_at timestamptz)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  asked_at := now();
  select auth_totp.proposed
  from platform.auth_totp
  where auth_totp.identity_id = auth_totp_proposed.identity_id
    and auth_totp.proposed_at > now() - interval '10 minutes'
  into secret;
end;
$$;

comment on function platform.auth_totp_proposed(text) is 'The secret of an authenticator that waits to be confirmed.';
grant execute on function platform.auth_totp_proposed(text) to sternpost_server;
