-- What a server logs although it serves: problems that do not bypass row security, but should be corrected. One
-- sentence each, with what to do.
create or replace function platform.serving_notes() returns setof text
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  with recursive serving as (
    select pg_roles.oid
    from pg_roles
    where pg_roles.rolname in (current_user, 'sternpost_server') or pg_roles.oid = any (platform.owners())
    union
    select pg_auth_members.member
    from serving
    join pg_auth_members on pg_auth_members.roleid = serving.oid
  ),
  serving_only as materialized ( -- without the owner, who makes the application
    select
      pg_roles.oid,
      pg_roles.rolname
    from serving
    join pg_roles on pg_roles.oid = serving.oid and not pg_roles.rolsuper
    where not has_database_privilege(serving.oid, current_database(), 'create')
  ),
  owned as materialized ( -- all but the functions in api, which are many
    select
      serving_only.rolname,
      pg_shdepend.classid,
      pg_shdepend.objid
    from serving_only
    join pg_shdepend on pg_shdepend.refclassid = 'pg_authid'::regclass and pg_shdepend.refobjid = serving_only.oid
    left join pg_proc on pg_shdepend.classid = 'pg_proc'::regclass and pg_proc.oid = pg_shdepend.objid
    where pg_shdepend.deptype = 'o'
      and pg_shdepend.dbid = (select pg_database.oid from pg_database where pg_database.datname = current_database())
      and pg_proc.pronamespace is distinct from to_regnamespace('api')
  )
  -- For example, everybody may make large objects, even without any rights.
  select format(
    'role %I owns %s, which is not part of the application: drop it, or change its owner',
    owned.rolname,
    pg_describe_object(owned.classid, owned.objid, 0)
  )
  from owned
  cross join pg_identify_object(owned.classid, owned.objid, 0) as object
  where coalesce(object.schema, object.name, '') not in ('platform', 'app', 'related', 'functions', 'api')
  order by 1
  limit 10
$$;

comment on function platform.serving_notes() is 'Notes for the log of a server that serves this database, each with what to do.';
grant execute on function platform.serving_notes() to sternpost_server;
