-- The kinds of second factors that an identity has; recovery codes are none of their own. Not granted to any role: only
-- functions beside it use it.
create or replace function platform.auth_factors(identity_id text) returns text[]
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  with own (kind) as (
    select 'totp'
    from platform.auth_totp
    where auth_totp.identity_id = auth_factors.identity_id
      and auth_totp.secret is not null
    union all
    select 'passkey'
    where exists (
      select
      from platform.auth_passkey
      where auth_passkey.identity_id = auth_factors.identity_id
    )
  )
  select coalesce(array_agg(own.kind), '{}') || case
    when count(*) > 0 and exists (
      select
      from platform.auth_recovery_code
      where auth_recovery_code.identity_id = auth_factors.identity_id
    ) then '{recovery}'::text[]
    else '{}'
  end
  from own;
$$;

comment on function platform.auth_factors(text) is 'The kinds of second factors that an identity has.';
