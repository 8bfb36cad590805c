-- The installed objects in the schemas of Sternpost, one per row, as Postgres describes them: two databases of one
-- schema give the same rows, also if one is a restored dump of the other, or has another major version of Postgres. It
-- leaves out the place of a column in its table or view, since a column that is added later comes last. It also leaves
-- out the names of owners, and the grants to roles that are not Sternpost's. Not granted to any role.
--
-- Expressions are printed in the pretty form, `true`. It has only the parentheses that the meaning needs. The other form
-- shows how an expression was written: `row(a, b, c) is distinct from row(…)` is `((… or …) or …)`, and after a restore
-- `(… or … or …)`.
create or replace function platform.catalog() returns table (object text, fact text)
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
set jit = off -- compiling would take longer than all that is read
-- Constants are printed by these settings.
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set timezone = 'UTC'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
  -- Comments are joined: obj_description and col_description run a statement for each object.
  with schemas as (
    select pg_namespace.oid, pg_namespace.nspname, pg_namespace.nspowner, pg_namespace.nspacl
    from pg_namespace
    where pg_namespace.nspname in ('platform', 'app', 'related', 'functions', 'api')
  ),
  relations as (
    select pg_class.*, pg_class.oid::regclass::text as called
    from pg_class
    join schemas on schemas.oid = pg_class.relnamespace
  ),
  routines as (
    select pg_proc.*, pg_proc.oid::regprocedure::text as called
    from pg_proc
    join schemas on schemas.oid = pg_proc.pronamespace
  ),
  acls as (
    select 'schema' as kind, schemas.oid, 0 as place, schemas.nspacl as acl from schemas
    union all
    select 'relation', relations.oid, 0, relations.relacl from relations
    union all
    select 'relation', pg_attribute.attrelid, pg_attribute.attnum, pg_attribute.attacl
    from relations
    join pg_attribute on pg_attribute.attrelid = relations.oid
    where pg_attribute.attacl is not null
    union all
    select 'routine', routines.oid, 0, coalesce(routines.proacl, acldefault('f', routines.proowner)) from routines
  ),
  granted as materialized ( -- said once for all objects with the same grants
    select
      lists.acl,
      (
        select string_agg(
          format(
            '%s%s to %s',
            lower(entry.privilege_type),
            case when entry.is_grantable then ' with grant option' else '' end,
            case when entry.grantee = 0 then 'public' else entry.grantee::regrole::text end
          ),
          ', '
          order by entry.grantee = 0, entry.grantee::regrole::text collate "C", entry.privilege_type collate "C"
        )
        from aclexplode(lists.acl) as entry
        where entry.grantee in (0, to_regrole('sternpost_server')) or entry.grantee = any ((select platform.owners())::oid[])
      ) as text
    from (select distinct acls.acl from acls) as lists
  ),
  grants as (
    select
      acls.kind,
      acls.oid,
      acls.place,
      granted.text
    from acls
    join granted on granted.acl = acls.acl
  ),
  owner as (
    select schemas.nspowner as oid from schemas where schemas.nspname = 'app'
  )
  select
    format('schema %I', schemas.nspname),
    format(
      'owner %s grants %s',
      case when schemas.nspowner = owner.oid then 'the owner' else schemas.nspowner::regrole::text end,
      grants.text
    )
  from schemas
  cross join owner
  left join grants on grants.kind = 'schema' and grants.oid = schemas.oid
  union all
  select
    format(
      '%s %s',
      case relations.relkind when 'v' then 'view' when 'c' then 'type' when 'S' then 'sequence' else 'table' end,
      relations.called
    ),
    format(
      'kind %s owner %s row security %s %s grants %s comment %L definition %s',
      relations.relkind,
      case when relations.relowner = owner.oid then 'the owner' else relations.relowner::regrole::text end,
      relations.relrowsecurity,
      relations.relforcerowsecurity,
      grants.text,
      pg_description.description,
      case
        when relations.relkind in ('v', 'm') then (
          -- Its columns are in alphabetical order, since a column that is added later comes last in a view, too. The
          -- name of its first table is left out before columns: from PostgreSQL 16 on, a view of one table prints none.
          select string_agg(btrim(part.text, E' \n;'), ', ' order by btrim(part.text, E' \n;') collate "C")
          from (select pg_get_viewdef(relations.oid, true)) as printed (text)
          cross join lateral (
            select coalesce(named.parts[3], named.parts[2])
            from regexp_match(printed.text, E'\n   FROM ([^ .]+\\.)?([^ ;\n]+)(?: ([^ ;\n]+))?') as named (parts)
          ) as first (name)
          cross join regexp_split_to_table(
            coalesce(regexp_replace(printed.text, '([ ([])' || first.name || '\.', '\1', 'g'), printed.text),
            E',\n|SELECT|FROM'
          ) as part (text)
        )
      end
    )
  from relations
  cross join owner
  left join grants on grants.kind = 'relation' and grants.oid = relations.oid and grants.place = 0
  left join pg_description
    on pg_description.classoid = 'pg_class'::regclass
    and pg_description.objoid = relations.oid
    and pg_description.objsubid = 0
  where relations.relkind not in ('i', 'I', 't')
  union all
  select
    format('column %s.%I', relations.called, pg_attribute.attname),
    format(
      '%s collation %s not null %s default %L comment %L grants %s',
      format_type(pg_attribute.atttypid, pg_attribute.atttypmod),
      pg_attribute.attcollation::regcollation,
      pg_attribute.attnotnull,
      pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid, true),
      pg_description.description,
      grants.text
    )
  from relations
  join pg_attribute on pg_attribute.attrelid = relations.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
  left join pg_attrdef on pg_attrdef.adrelid = pg_attribute.attrelid and pg_attrdef.adnum = pg_attribute.attnum
  left join grants on grants.kind = 'relation' and grants.oid = relations.oid and grants.place = pg_attribute.attnum
  left join pg_description
    on pg_description.classoid = 'pg_class'::regclass
    and pg_description.objoid = pg_attribute.attrelid
    and pg_description.objsubid = pg_attribute.attnum
  where relations.relkind not in ('i', 'I', 't')
  union all
  -- From PostgreSQL 18 on, a column that is not null has a constraint of its own. The row of the column says so
  -- already.
  select
    format('constraint %I on %s', pg_constraint.conname, relations.called),
    format(
      '%s validated %s comment %L',
      pg_get_constraintdef(pg_constraint.oid, true),
      pg_constraint.convalidated,
      pg_description.description
    )
  from relations
  join pg_constraint on pg_constraint.conrelid = relations.oid
  left join pg_description on pg_description.classoid = 'pg_constraint'::regclass and pg_description.objoid = pg_constraint.oid
  where pg_constraint.contype <> 'n'
  union all
  select
    format('index %s', relations.called),
    format('%s valid %s comment %L', pg_get_indexdef(pg_index.indexrelid, 0, true), pg_index.indisvalid, pg_description.description)
  from relations
  join pg_index on pg_index.indexrelid = relations.oid
  left join pg_description
    on pg_description.classoid = 'pg_class'::regclass
    and pg_description.objoid = relations.oid
    and pg_description.objsubid = 0
  union all
  select
    format('trigger %I on %s', pg_trigger.tgname, relations.called),
    format('%s enabled %s', pg_get_triggerdef(pg_trigger.oid, true), pg_trigger.tgenabled)
  from relations
  join pg_trigger on pg_trigger.tgrelid = relations.oid
  where not pg_trigger.tgisinternal
  union all
  select
    format('policy %I on %s', pg_policy.polname, relations.called),
    format(
      '%s permissive %s for %s to %s using %s check %s comment %L',
      pg_policy.polname,
      pg_policy.polpermissive,
      pg_policy.polcmd,
      (select string_agg(case when role = 0 then 'public' else role::regrole::text end, ', ' order by role::regrole::text collate "C")
       from unnest(pg_policy.polroles) as role),
      pg_get_expr(pg_policy.polqual, pg_policy.polrelid, true),
      pg_get_expr(pg_policy.polwithcheck, pg_policy.polrelid, true),
      pg_description.description
    )
  from relations
  join pg_policy on pg_policy.polrelid = relations.oid
  left join pg_description on pg_description.classoid = 'pg_policy'::regclass and pg_description.objoid = pg_policy.oid
  union all
  select
    format('function %s', routines.called),
    format(
      'owner %s grants %s comment %L %s',
      case when routines.proowner = owner.oid then 'the owner' else routines.proowner::regrole::text end,
      grants.text,
      pg_description.description,
      case
        when routines.prosqlbody is not null then translate(pg_get_functiondef(routines.oid), '()', '') -- it is not pretty
        when routines.prokind <> 'a' then pg_get_functiondef(routines.oid)
      end
    )
  from routines
  cross join owner
  left join grants on grants.kind = 'routine' and grants.oid = routines.oid
  left join pg_description on pg_description.classoid = 'pg_proc'::regclass and pg_description.objoid = routines.oid
$$;

comment on function platform.catalog() is 'The installed objects in the schemas of Sternpost, one per row.';
