-- Notes that a browser has come back from a provider, by the SHA-256 of its state. It returns false and notes nothing
-- if the browser came back before, or after the end of the sign-in. The server checks by its cookie that it is the
-- browser that began the sign-in.
create or replace function platform.auth_signin_take(hash bytea, ends_at timestamptz) returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    insert into platform.auth_return (hash, ends_at)
    select auth_signin_take.hash, auth_signin_take.ends_at
    where auth_signin_take.ends_at > now()
    on conflict do nothing
    returning auth_return.hash
  )
  select exists (select from taken);
$$;

comment on function platform.auth_signin_take(bytea, timestamptz) is 'Notes that a browser has come back from a provider; false if it may not.';
grant execute on function platform.auth_signin_take(bytea, timestamptz) to sternpost_server;
