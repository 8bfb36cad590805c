-- The system identifier of this cluster, which a restore in another cluster changes; null if Postgres does not say it to
-- the owner. Not granted to any role: only functions beside it use it.
create or replace function platform.cluster() returns bigint
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if has_function_privilege('pg_catalog.pg_control_system()', 'execute') then
    return (select control.system_identifier from pg_control_system() as control);
  end if;
  return null;
end;
$$;

comment on function platform.cluster() is 'The system identifier of this cluster.';
