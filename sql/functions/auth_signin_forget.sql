-- Forgets that a browser has come back, if the provider did not vouch for anybody. No code can be issued for that
-- sign-in afterwards. Such returns cost their sender nothing, so they must not fill the table.
create or replace function platform.auth_signin_forget(hash bytea) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from platform.auth_return
  where auth_return.hash = auth_signin_forget.hash;
$$;

comment on function platform.auth_signin_forget(bytea) is 'Forgets that a browser has come back, if the provider did not vouch for anybody.';
grant execute on function platform.auth_signin_forget(bytea) to sternpost_server;
