-- Checks for a server that the only way into the database leads through api. It returns one sentence per fault, for
-- current_user and every role it is a member of. It reads the catalog only, which does not have row security.
create or replace function platform.serving_faults() returns setof text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- a plan for each of a dozen roles would cost more than all that is looked up
as $$
declare
  v_callers oid[] := platform.owners(); -- whom functions in api run as
  v_server oid := to_regrole('sternpost_server');
  v_database oid := (select pg_database.oid from pg_database where pg_database.datname = current_database());
  v_own oid[]; -- the current user, and the roles that it is a member of
  v_lent oid[]; -- the same for the roles of v_callers
  v_doubtful oid[];
  v_role record;
  v_owned text[];
begin
  with recursive reached as (
    select
      pg_roles.oid as role,
      pg_roles.oid = any (v_callers) as is_for_caller
    from pg_roles
    where pg_roles.rolname = current_user or pg_roles.oid = any (v_callers)
    union
    select
      pg_auth_members.roleid,
      reached.is_for_caller
    from reached
    join pg_auth_members on pg_auth_members.member = reached.role
  )
  select
    array_agg(reached.role) filter (where not reached.is_for_caller),
    array_agg(reached.role) filter (where reached.is_for_caller)
  into
    v_own,
    v_lent
  from reached;

  -- Tables and views with a grant that does not belong there. The rights of each role below are looked up for these
  -- only: a lookup for all of them would take most of the time. The roles of Postgres may read or write without a
  -- grant, or have members without a membership.
  v_doubtful := array(
    with relations as (
      select
        pg_class.oid,
        pg_namespace.nspname as schema,
        coalesce(pg_class.relacl, acldefault('r', pg_class.relowner)) as acl
      from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
      where pg_namespace.nspname in ('app', 'related', 'functions', 'api')
        and pg_class.relkind in ('r', 'p', 'v', 'm', 'f')
    ),
    granted as materialized (
      select
        relations.oid,
        relations.schema,
        relations.acl
      from relations
      union
      select
        relations.oid,
        relations.schema,
        pg_attribute.attacl
      from relations
      join pg_attribute on pg_attribute.attrelid = relations.oid
      where pg_attribute.attacl is not null
    ),
    doubtful as materialized ( -- many relations have the same grants
      select
        lists.schema,
        lists.acl
      from (select distinct granted.schema, granted.acl from granted) as lists
      where array['pg_read_all_data', 'pg_write_all_data']::regrole[]::oid[] && (v_own || v_lent)
        or exists (
          select
          from aclexplode(lists.acl) as entry
          where entry.grantee in (0, 'pg_database_owner'::regrole)
            or entry.grantee = any (v_own)
            or (
              entry.grantee = any (v_lent)
              and not (lists.schema = 'app' and entry.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE'))
              and not (lists.schema = 'related' and entry.privilege_type = 'SELECT')
            )
        )
    )
    select distinct granted.oid
    from granted
    join doubtful on doubtful.schema = granted.schema and doubtful.acl = granted.acl
  );

  -- The login that serves, what it may become, and the roles that functions run as. A membership counts whether it is
  -- inherited or not.
  for v_role in
    with recursive memberships as (
      select
        pg_roles.oid as member,
        pg_roles.oid as role
      from pg_roles
      where pg_roles.rolname = current_user or pg_roles.oid = any (v_callers)
      union
      select
        memberships.member,
        pg_auth_members.roleid
      from memberships
      join pg_auth_members on pg_auth_members.member = memberships.role
    )
    select distinct
      pg_roles.*,
      quote_ident(pg_roles.rolname) || case
        when pg_roles.oid <> memberships.member then format(' (%I is a member of it)', pg_get_userbyid(memberships.member))
        else ''
      end as called,
      pg_roles.oid = any (v_callers) as is_caller,
      memberships.member = any (v_callers) as is_for_caller,
      pg_roles.oid <> memberships.member as is_inherited
    from memberships
    join pg_roles on pg_roles.oid = memberships.role
    order by called
  loop
    if v_role.is_caller and not v_role.is_for_caller then
      return next format('role %s may run anything that an action may', v_role.called);
      continue;
    end if;
    if v_role.is_inherited and v_role.is_for_caller then
      return next format('role %s adds rights to actions that no schema gives', v_role.called);
    end if;

    if v_role.rolsuper then
      return next format('role %s is a superuser', v_role.called);
      continue; -- who may everything
    end if;
    if v_role.rolbypassrls then
      return next format('role %s bypasses row security', v_role.called);
    end if;
    if v_role.rolcreaterole then
      return next format('role %s may create roles', v_role.called);
    end if;
    if v_role.rolcreatedb then
      return next format('role %s may create databases', v_role.called);
    end if;
    if v_role.rolreplication then
      return next format('role %s may replicate the cluster', v_role.called);
    end if;
    if v_role.is_caller and v_role.rolcanlogin then
      return next format('role %s may log in', v_role.called);
    end if;

    -- An owner may own hundreds of objects: the first few are enough. Objects outside the application, such as the
    -- large objects that everybody may make, do not keep a server from starting: platform.serving_notes reports them.
    v_owned := array(
      with owned as materialized ( -- its many functions in api are left out before anything else is asked of an object
        select
          pg_shdepend.classid,
          pg_shdepend.objid
        from pg_shdepend
        left join pg_proc on pg_shdepend.classid = 'pg_proc'::regclass and pg_proc.oid = pg_shdepend.objid
        where pg_shdepend.refclassid = 'pg_authid'::regclass
          and pg_shdepend.refobjid = v_role.oid
          and pg_shdepend.deptype = 'o'
          and pg_shdepend.dbid in (v_database, 0)
          and (not v_role.is_caller or pg_proc.pronamespace is distinct from to_regnamespace('api'))
      )
      select pg_describe_object(owned.classid, owned.objid, 0)
      from owned
      cross join pg_identify_object(owned.classid, owned.objid, 0) as object
      where coalesce(object.schema, object.name) in ('platform', 'app', 'related', 'functions', 'api')
        or owned.classid = 'pg_database'::regclass
      order by 1
    );
    if v_owned <> '{}' then
      return next format('role %s owns %s', v_role.called, array_to_string(v_owned[1:3], ', '))
        || case when cardinality(v_owned) > 3 then format(' and %s more', cardinality(v_owned) - 3) else '' end;
    end if;

    return query
      select format('role %s may create in schema %I', v_role.called, pg_namespace.nspname)
      from pg_namespace
      where pg_namespace.nspname !~ '^pg_(temp|toast)'
        and has_schema_privilege(v_role.oid, pg_namespace.oid, 'create')
      order by 1;

    return query
      select format('role %s may create schemas in database %I', v_role.called, pg_database.datname)
      from pg_database
      where has_database_privilege(v_role.oid, pg_database.oid, 'create')
      order by 1;

    if has_database_privilege(v_role.oid, v_database, 'temporary') then
      return next format('role %s may create temporary tables in database %I', v_role.called, current_database());
    end if;

    if not v_role.is_for_caller then
      return query
        select format('role %s may use schema %I', v_role.called, pg_namespace.nspname)
        from pg_namespace
        where pg_namespace.nspname in ('app', 'related', 'functions')
          and has_schema_privilege(v_role.oid, pg_namespace.oid, 'usage')
        order by 1;
    end if;

    -- The caller reads and writes the rows that actions need; a right that row security does not limit is not for it.
    return query
      select format(
        'role %s may %s %s',
        v_role.called,
        string_agg(lower(privilege.name), ', ' order by privilege.place),
        pg_class.oid::regclass
      )
      from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
      cross join unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) with ordinality
        as privilege (name, place)
      where pg_class.oid = any (v_doubtful)
        and case
          when privilege.name in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') then
            has_any_column_privilege(v_role.oid, pg_class.oid, privilege.name)
          else has_table_privilege(v_role.oid, pg_class.oid, privilege.name)
        end
        and not (
          v_role.is_for_caller
          and (
            (pg_namespace.nspname = 'app' and privilege.name in ('SELECT', 'INSERT', 'UPDATE', 'DELETE'))
            or (pg_namespace.nspname = 'related' and privilege.name = 'SELECT')
          )
        )
      group by pg_class.oid
      order by 1;
  end loop;

  return query
    select format('table %s has no row security', pg_class.oid::regclass)
    from pg_class
    where pg_class.relnamespace = to_regnamespace('app')
      and pg_class.relkind in ('r', 'p')
      and not pg_class.relrowsecurity
    order by 1;

  return query
    select format('function %s %s', pg_proc.oid::regprocedure, format(fault.text, pg_get_userbyid(pg_proc.proowner)))
    from pg_proc
    cross join lateral (
      values
        (pg_proc.prosecdef, 'is not security definer'),
        (pg_proc.proowner = any (v_callers), 'belongs to %I, which is not a role that actions run as'),
        ('search_path=pg_catalog, pg_temp' = any (pg_proc.proconfig), 'does not pin its search path to pg_catalog, pg_temp')
    ) as fault (is_absent, text)
    where pg_proc.pronamespace = to_regnamespace('api')
      and fault.is_absent is not true
    order by 1;

  return query
    select distinct format(
      'function %s may be executed by %s',
      pg_proc.oid::regprocedure,
      case when entry.grantee = 0 then 'everybody' else quote_ident(pg_get_userbyid(entry.grantee)) end
    )
    from pg_proc
    cross join aclexplode(coalesce(pg_proc.proacl, acldefault('f', pg_proc.proowner))) as entry
    where pg_proc.pronamespace = to_regnamespace('api')
      and entry.grantee not in (pg_proc.proowner, v_server)
    order by 1;

  -- Compares the installed rules with the present ones. If no release installed the schema, there is nothing to
  -- compare.
  return query
    select format(
      '%s %s',
      coalesce(present.object, kept_rule.object),
      case
        when present.object is null then 'is gone'
        when kept_rule.object is null then 'was made by hand'
        else 'was changed by hand'
      end
    )
    from platform.rules() as present
    full join platform.kept_rule on kept_rule.schema = present.schema and kept_rule.object = present.object
    where kept_rule.digest is distinct from present.digest
      and coalesce(present.schema, kept_rule.schema) in (select distinct kept.schema from platform.kept_rule as kept)
    order by 1;

  -- Functions are public by default, until that is revoked.
  return query
    select format('%s is granted to everybody (%s)', granted.object, string_agg(distinct lower(granted.privilege), ', '))
    from (
      select
        format('schema %I', pg_namespace.nspname) as object,
        pg_namespace.nspname as schema,
        entry.grantee,
        entry.privilege_type as privilege
      from pg_namespace
      cross join aclexplode(pg_namespace.nspacl) as entry
      union all
      select
        format('%s %s', case when pg_class.relkind = 'S' then 'sequence' else 'table' end, pg_class.oid::regclass),
        pg_namespace.nspname,
        entry.grantee,
        entry.privilege_type
      from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
      cross join aclexplode(pg_class.relacl) as entry
      union all
      select
        format('column %s.%I', pg_class.oid::regclass, pg_attribute.attname),
        pg_namespace.nspname,
        entry.grantee,
        entry.privilege_type
      from pg_attribute
      join pg_class on pg_class.oid = pg_attribute.attrelid
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
      cross join aclexplode(pg_attribute.attacl) as entry
      where pg_attribute.attacl is not null
      union all
      select
        format('function %s', pg_proc.oid::regprocedure),
        pg_namespace.nspname,
        entry.grantee,
        entry.privilege_type
      from pg_proc
      join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
      cross join aclexplode(coalesce(pg_proc.proacl, acldefault('f', pg_proc.proowner))) as entry
      where pg_namespace.nspname <> 'api'
    ) as granted
    where granted.schema in ('platform', 'app', 'related', 'functions', 'api')
      and granted.grantee = 0
    group by granted.object
    order by 1;
end;
$$;

comment on function platform.serving_faults() is 'Why this database should not be served by the current user; no row if it may.';
grant execute on function platform.serving_faults() to sternpost_server;
