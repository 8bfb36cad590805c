-- Gives an identity these recovery codes, by their SHA-256, in place of those that it has. Not granted to any role: only
-- functions beside it use it.
create or replace function platform.auth_recovery_set(identity_id text, recovery bytea[]) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from platform.auth_recovery_code
  where auth_recovery_code.identity_id = auth_recovery_set.identity_id;

  insert into platform.auth_recovery_code (identity_id, hash)
  select auth_recovery_set.identity_id, code
  from unnest(recovery) as code;
end;
$$;

comment on function platform.auth_recovery_set(text, bytea[]) is 'Gives an identity new recovery codes.';
