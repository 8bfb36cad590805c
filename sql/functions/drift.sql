-- What was changed since the newest release was installed, except by a release. It returns nothing if the catalog was
-- not kept, or was kept by an older platform, which described objects in another way (as `objects`). Not granted to any
-- role.
create or replace function platform.drift() returns table (object text, change text)
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  with newest as (
    select release.catalog
    from platform.release
    order by release.number desc
    limit 1
  ),
  kept as (
    select entry.key as object, entry.value as digest
    from newest
    cross join json_each_text(newest.catalog -> 'definitions') as entry
  ),
  present as (
    select catalog.object, md5(catalog.fact) as digest
    from platform.catalog() as catalog
  )
  select
    coalesce(kept.object, present.object),
    case
      when present.object is null then 'is gone'
      when kept.object is null then 'was made by hand'
      else 'was changed by hand'
    end
  from kept
  full join present on present.object = kept.object
  where kept.digest is distinct from present.digest
    and exists (select from kept)
  order by 1
$$;

comment on function platform.drift() is 'Changes since the newest release, except by a release.';
