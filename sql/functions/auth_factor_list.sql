-- The second factors of an identity, and how many recovery codes are left, as JSON.
create or replace function platform.auth_factor_list(identity_id text) returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'factors',
    coalesce(
      (
        select json_agg(
          json_build_object(
            'kind', factor.kind,
            'id', factor.id,
            'name', factor.name,
            'createdAt', platform.iso(factor.created_at),
            'usedAt', platform.iso(factor.used_at)
          )
          order by factor.created_at
        )
        from (
          select 'totp', null, null, auth_totp.confirmed_at, auth_totp.used_at
          from platform.auth_totp
          where auth_totp.identity_id = auth_factor_list.identity_id
            and auth_totp.secret is not null
          union all
          select 'passkey', auth_passkey.id, auth_passkey.name, auth_passkey.created_at, auth_passkey.used_at
          from platform.auth_passkey
          where auth_passkey.identity_id = auth_factor_list.identity_id
        ) as factor (kind, id, name, created_at, used_at)
      ),
      '[]'
    ),
    'recoveryCodes',
    (
      select count(*)
      from platform.auth_recovery_code
      where auth_recovery_code.identity_id = auth_factor_list.identity_id
    )
  )::text;
$$;

comment on function platform.auth_factor_list(text) is 'The second factors of an identity.';
grant execute on function platform.auth_factor_list(text) to sternpost_server;
