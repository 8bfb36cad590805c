-- Counts a failed grant: a wrong password of an account or, without an account, an invalid token. It returns 0, or the
-- seconds to wait if a limit has been reached. In that case it counts nothing, and the client must not learn how its
-- attempt went.
create or replace function platform.auth_fail(
  account text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval
) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wait integer;
begin
  perform platform.auth_lock(account, address);
  v_wait := platform.auth_wait(account, address, per_account_and_address, per_account, per_address, span);
  if v_wait = 0 then
    insert into platform.auth_failure (account, address, kind)
    values (auth_fail.account, auth_fail.address, case when account is null then 'token' else 'password' end);
  end if;
  return v_wait;
end;
$$;

comment on function platform.auth_fail(text, text, integer, integer, integer, interval) is
  'Counts a failed grant, unless a limit has been reached; returns the seconds to wait.';
grant execute on function platform.auth_fail(text, text, integer, integer, integer, interval) to sternpost_server;
