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
            'kind', 'totp',
            'createdAt', platform.iso(auth_totp.confirmed_at),
            'usedAt', platform.iso(auth_totp.used_at)
          )
        )
        from platform.auth_totp
        where auth_totp.identity_id = auth_factor_list.identity_id
          and auth_totp.secret is not null
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
