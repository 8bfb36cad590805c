-- Gives the caller new recovery codes, by their SHA-256; the others are void. False if there is no second factor.
create or replace function platform.auth_recovery_renew(identity_id text, token text, recovery bytea[]) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.auth_require(identity_id, token);
  if platform.auth_factors(identity_id) = '{}' then
    return false;
  end if;
  perform platform.auth_recovery_set(identity_id, recovery);
  return true;
end;
$$;

comment on function platform.auth_recovery_renew(text, text, bytea[]) is 'Gives the caller new recovery codes.';
grant execute on function platform.auth_recovery_renew(text, text, bytea[]) to sternpost_server;
