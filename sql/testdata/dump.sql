-- Describes all that the platform puts into a database, but for the bodies of functions, in words that are the same for
-- every version of Postgres.
with ours as (
  select oid, nspname, nspowner, nspacl
  from pg_namespace
  where nspname in ('platform', 'app', 'related', 'functions', 'api')
),
rights as (
  -- Rights of anybody but the owner; of functions also that of everybody by default.
  select classid, objid, objsubid, string_agg(
    case when grantee = 0 then 'public' else grantee::regrole::text end || '=' || privileges, ' ' order by grantee = 0, grantee::regrole::text
  ) as text
  from (
    select classid, objid, objsubid, entry.grantee, string_agg(lower(entry.privilege_type), ',' order by entry.privilege_type) as privileges
    from (
      select 'pg_namespace'::regclass as classid, oid as objid, 0 as objsubid, nspowner as owner, nspacl as acl from ours
      union all
      select 'pg_class'::regclass, pg_class.oid, 0, relowner, relacl from pg_class join ours on ours.oid = relnamespace
      union all
      select 'pg_class'::regclass, attrelid, attnum, relowner, attacl
      from pg_attribute join pg_class on pg_class.oid = attrelid join ours on ours.oid = relnamespace
      union all
      select 'pg_proc'::regclass, pg_proc.oid, 0, proowner, coalesce(proacl, acldefault('f', proowner))
      from pg_proc join ours on ours.oid = pronamespace
    ) as objects
    cross join aclexplode(acl) as entry
    where entry.grantee <> owner
    group by classid, objid, objsubid, entry.grantee
  ) as granted
  group by classid, objid, objsubid
),
lines as (
  select 1 as part, nspname::text as name, 0 as place,
    concat_ws('  ', 'schema ' || nspname, '[' || rights.text || ']', '-- ' || obj_description(ours.oid, 'pg_namespace')) as line
  from ours left join rights on classid = 'pg_namespace'::regclass and objid = ours.oid
  union all
  select 2, pg_class.oid::regclass::text, 0,
    concat_ws('  ', case relkind when 'c' then 'type ' else 'table ' end || pg_class.oid::regclass::text,
      '[' || rights.text || ']', '-- ' || coalesce(obj_description(pg_class.oid, 'pg_class'), obj_description(reltype, 'pg_type')))
  from pg_class join ours on ours.oid = relnamespace
  left join rights on classid = 'pg_class'::regclass and objid = pg_class.oid and objsubid = 0
  where relkind in ('r', 'c')
  union all
  select 2, attrelid::regclass::text, attnum,
    concat_ws('  ', '  ' || attname || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(adbin, adrelid), ''),
      '[' || rights.text || ']', '-- ' || col_description(attrelid, attnum))
  from pg_attribute
  join pg_class on pg_class.oid = attrelid
  join ours on ours.oid = relnamespace
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  left join rights on classid = 'pg_class'::regclass and objid = attrelid and objsubid = attnum
  where relkind in ('r', 'c') and attnum > 0 and not attisdropped
  union all
  select 2, conrelid::regclass::text, 1000, '  constraint ' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid)
  from pg_constraint join ours on ours.oid = connamespace
  where contype <> 'n' -- from 18 on required columns are constraints too
  union all
  select 2, indrelid::regclass::text, 1001, '  ' || pg_get_indexdef(indexrelid)
  from pg_index join pg_class on pg_class.oid = indexrelid join ours on ours.oid = relnamespace
  where not indisprimary
  union all
  select 3, pg_proc.oid::regprocedure::text, 0,
    concat_ws(E'\n', 'function platform.' || proname || '(' || pg_get_function_arguments(pg_proc.oid) || ')',
      '  returns ' || pg_get_function_result(pg_proc.oid),
      concat_ws(', ', '  ' || lanname,
        case provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
        case proparallel when 's' then 'parallel safe' end,
        case when prosecdef then 'security definer' end,
        'set ' || array_to_string(proconfig, ', ')),
      '  [' || rights.text || ']',
      '  -- ' || obj_description(pg_proc.oid, 'pg_proc'))
  from pg_proc join ours on ours.oid = pronamespace
  join pg_language on pg_language.oid = prolang
  left join rights on classid = 'pg_proc'::regclass and objid = pg_proc.oid
  union all
  select 4, defaclobjtype::text, 0,
    'default privileges on objects of kind ' || defaclobjtype::text || coalesce(' in ' || nullif(defaclnamespace, 0)::regnamespace::text, '')
    || ' for everybody but the owner: '
    || coalesce((select string_agg(grantee::text || '=' || privilege_type, ' ') from aclexplode(defaclacl) where grantee <> defaclrole), 'none')
  from pg_default_acl
)
select line from lines order by part, name collate "C", place, line collate "C"
