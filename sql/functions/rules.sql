-- The objects that permissions depend on, one per row with a digest of its text: the policies of schema app, and the functions of
-- platform and api. The text is the same in each version of Postgres and after a restore, as in platform.catalog.
create or replace function platform.rules() returns table (schema text, object text, digest text)
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
  with readers as materialized ( -- whom policies are for, said once for all policies of the same roles
    select
      lists.roles,
      (
        select string_agg(case when role = 0 then 'public' else role::regrole::text end, ', ' order by role::regrole::text collate "C")
        from unnest(lists.roles) as role
      ) as names
    from (select distinct pg_policy.polroles as roles from pg_policy) as lists
  ),
  callers as materialized ( -- who may execute functions, said once for all functions with the same grants
    select
      lists.acl,
      (
        select string_agg(entry.grantee::regrole::text, ', ' order by entry.grantee::regrole::text collate "C")
        from aclexplode(lists.acl) as entry
        where entry.grantee = to_regrole('sternpost_server') or entry.grantee = any ((select platform.owners())::oid[])
      ) as names
    from (
      select distinct pg_proc.proacl as acl
      from pg_proc
      join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
      where pg_namespace.nspname in ('platform', 'api') and pg_proc.proacl is not null
    ) as lists
  )
  select
    'app',
    format('policy %I on %s', pg_policy.polname, pg_policy.polrelid::regclass),
    md5(concat_ws(
      '|',
      pg_policy.polcmd,
      pg_policy.polpermissive,
      readers.names,
      coalesce(pg_get_expr(pg_policy.polqual, pg_policy.polrelid, true), ''),
      coalesce(pg_get_expr(pg_policy.polwithcheck, pg_policy.polrelid, true), '')
    ))
  from pg_policy
  join pg_class on pg_class.oid = pg_policy.polrelid
  join readers on readers.roles = pg_policy.polroles
  where pg_class.relnamespace = to_regnamespace('app')
  union all
  select
    pg_namespace.nspname::text,
    format('function %s', pg_proc.oid::regprocedure),
    md5(concat_ws(
      '|',
      pg_proc.prosrc,
      pg_language.lanname,
      pg_proc.provolatile,
      pg_proc.prosecdef,
      coalesce(pg_proc.proconfig::text, ''),
      pg_proc.proretset,
      pg_proc.prorettype::regtype,
      coalesce(pg_proc.proargnames::text, ''),
      case -- the roles that own functions in api are told apart; what was said of the first two before others came stays
        when pg_proc.proowner = pg_namespace.nspowner then 't'
        when pg_proc.proowner = to_regrole('sternpost_caller') then 'f'
        when pg_proc.proowner = to_regrole('sternpost_code') then 'code'
        when pg_proc.proowner = any ((select platform.owners())::oid[]) then pg_proc.proowner::regrole::text
        else 'f'
      end,
      callers.names
    ))
  from pg_proc
  join pg_namespace on pg_namespace.oid = pg_proc.pronamespace
  join pg_language on pg_language.oid = pg_proc.prolang
  left join callers on callers.acl = pg_proc.proacl
  where pg_namespace.nspname in ('platform', 'api')
$$;

comment on function platform.rules() is 'The policies and functions that permissions depend on, each with a digest of its text.';
grant execute on function platform.rules() to sternpost_server;
