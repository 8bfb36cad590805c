-- Notes the present catalog as the state that the newest release wants: at the end of an installation, and again after
-- later steps, such as indexes that are made concurrently. From then on platform.drift reports other changes. Not
-- granted to any role.
create or replace function platform.keep_catalog() returns void
language sql
volatile
security invoker
as $$
  update platform.release
  set catalog = case
    when release.number = (select max(newest.number) from platform.release as newest) then (
      select json_build_object('definitions', json_object_agg(catalog.object, md5(catalog.fact)))
      from platform.catalog() as catalog
    )
  end
  where release.catalog is not null
    or release.number = (select max(newest.number) from platform.release as newest);
$$;

comment on function platform.keep_catalog() is 'Notes the present catalog as the state that the newest release wants.';
