-- The roles that functions in api run as. The same applies to all of them, and no other function lists them.
create or replace function platform.owners() returns oid[]
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(pg_roles.oid order by pg_roles.rolname)
  from pg_roles
  where pg_roles.rolname in ('sternpost_open', 'sternpost_caller', 'sternpost_code')
    or pg_roles.rolname ~ '^sternpost_caller_[2-8]$'
$$;

comment on function platform.owners() is 'The roles that functions in api run as.';
grant execute on function platform.owners() to sternpost_server;
