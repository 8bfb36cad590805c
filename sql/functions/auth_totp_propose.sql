-- Keeps the secret of a new authenticator until a code of it is right, for ten minutes. The present one stays until then.
create or replace function platform.auth_totp_propose(identity_id text, token text, secret text) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.auth_require(identity_id, token);
  insert into platform.auth_totp (identity_id, proposed, proposed_at)
  values (auth_totp_propose.identity_id, auth_totp_propose.secret, now())
  on conflict on constraint auth_totp_pkey do update set
    proposed = excluded.proposed,
    proposed_at = excluded.proposed_at;
end;
$$;

comment on function platform.auth_totp_propose(text, text, text) is 'Keeps the secret of a new authenticator until it is confirmed.';
grant execute on function platform.auth_totp_propose(text, text, text) to sternpost_server;
