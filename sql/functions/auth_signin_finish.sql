-- The end of a sign-in by redirect that the provider has vouched for. It finds or creates the identity as
-- platform.auth_identity does, with the same outcomes, and keeps the code that the browser takes to the client. There
-- is a code only if the identity was found or created. second_at is when the user has shown the provider a second factor.
create or replace function platform.auth_signin_finish(
  issuer text,
  external_id text,
  fields jsonb,
  address text,
  per_address integer,
  span interval,
  code_hash bytea,
  target text,
  is_dynamic boolean,
  challenge text,
  challenge_method text,
  lifetime interval,
  second_at timestamptz
) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcome text;
  v_identity_id text;
begin
  select identity.outcome, identity.identity_id
  from platform.auth_identity(issuer, external_id, fields, true, address, per_address, span) as identity
  into v_outcome, v_identity_id;

  if v_outcome in ('found', 'created') then
    insert into platform.auth_code (
      hash,
      identity_id,
      is_identity_new,
      target,
      is_dynamic,
      challenge,
      challenge_method,
      expires_at,
      second_at
    )
    values (
      code_hash,
      v_identity_id,
      v_outcome = 'created',
      auth_signin_finish.target,
      auth_signin_finish.is_dynamic,
      auth_signin_finish.challenge,
      auth_signin_finish.challenge_method,
      now() + lifetime,
      auth_signin_finish.second_at
    );
  end if;
  return v_outcome;
end;
$$;

comment on function platform.auth_signin_finish(
  text, text, jsonb, text, integer, interval, bytea, text, boolean, text, text, interval, timestamptz
) is 'Finds or creates the identity of a sign-in by redirect, and keeps the code for it.';
grant execute on function platform.auth_signin_finish(
  text, text, jsonb, text, integer, interval, bytea, text, boolean, text, text, interval, timestamptz
) to sternpost_server;
