-- Notes that a browser has come back from a provider, known by the SHA-256 of its state. False, and nothing is noted, if it came
-- back before, or after its end. Whether it is the browser that left is for the server to know, since it has the cookie.
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
