-- Makes platform.job the jobs of a release. Not granted to any role: only the installation of a release uses it.
create or replace function platform.follow_jobs(manifest json) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  delete from platform.job;

  insert into platform.job (name, run)
  select
    named->>'name',
    named->>'run'
  from json_array_elements(coalesce(manifest->'jobs', '[]')) as named;
$$;

comment on function platform.follow_jobs(json) is 'Makes platform.job the jobs of a release.';
