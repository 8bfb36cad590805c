-- Gives the caller new recovery codes, by their SHA-256; the others are void. It returns ok, what the caller must show
-- first, as platform.auth_needs does, or missing if it has no second factor.
create or replace function platform.auth_recovery_renew(identity_id text, token text, recovery bytea[]) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_needs constant text := platform.auth_needs(identity_id, token);
begin
  if v_needs is not null then
    return v_needs;
  end if;
  if platform.auth_factors(identity_id) = '{}' then
    return 'missing';
  end if;
  perform platform.auth_recovery_set(identity_id, recovery);
  return 'ok';
end;
$$;

comment on function platform.auth_recovery_renew(text, text, bytea[]) is 'Gives the caller new recovery codes.';
grant execute on function platform.auth_recovery_renew(text, text, bytea[]) to sternpost_server;
