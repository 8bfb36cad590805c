-- What every Sternpost database needs: roles, schemas, default privileges, releases and the types of the functions. The
-- role that runs this becomes the owner. It needs a database of its own and the right to create roles, and nothing
-- else. The objects that it creates have names of Sternpost, so a database keeps its other objects.

-- Roles ---------------------------------------------------------------------------------------------------------------
-- Roles belong to the cluster: another database may have created them, or may be creating them at this moment.

do $$
declare
  v_role text;
begin
  if not pg_has_role(current_user, (select datdba from pg_database where datname = current_database()), 'usage') then
    raise exception 'role % does not own database %', current_user, current_database() using
      errcode = 'insufficient_privilege',
      hint = format('Run: alter database %I owner to %I', current_database(), current_user);
  end if;

  foreach v_role in array array['sternpost_caller', 'sternpost_server'] loop
    if to_regrole(v_role) is null then
      begin
        execute format('create role %I nologin', v_role);
        execute format(
          'comment on role %I is %L',
          v_role,
          case v_role
            when 'sternpost_caller' then 'Owns the functions in schema api, and so is who they run as. Never logs in.'
            else 'The rights of a Sternpost server; logins of servers are members.'
          end
        );
      exception
        when duplicate_object or unique_violation then
          null; -- the other database was faster
      end;
    end if;

    -- The owner gives functions to the caller and may act as a server, and needs membership for both. Up to PostgreSQL
    -- 15 any role with createrole may grant itself the membership. From 16 on only the creator of the role may, and has
    -- to do so explicitly.
    if not pg_has_role(current_user, v_role, 'usage')
      or not pg_has_role(current_user, v_role, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)
    then
      begin
        execute format('grant %I to %I', v_role, current_user);
      exception
        when unique_violation then
          null; -- granted by the other database
        when insufficient_privilege then
          raise exception 'role % exists, and % may not become a member of it', v_role, current_user using
            errcode = 'insufficient_privilege',
            hint = format('Run as a superuser: grant %I to %I', v_role, current_user);
      end;
    end if;
  end loop;

  -- A server's login is granted `connect` by name: sternpost_server has members that serve other databases.
  execute format('revoke all on database %I from public', current_database());
end;
$$;

-- A function is for certain roles only: none is public unless granted. This must be without `in schema` to have an
-- effect, since the default privileges of a schema add to the global ones and never subtract.
alter default privileges revoke execute on functions from public;

-- Large objects are outside of all schemas, and a role that may make one owns it. Only a superuser can revoke that
-- right from everybody. If the owner of a database is not a superuser, everybody keeps it.
do $$
begin
  if (select rolsuper from pg_roles where rolname = current_user) then
    revoke execute on function
      pg_catalog.lo_creat(integer),
      pg_catalog.lo_create(oid),
      pg_catalog.lo_from_bytea(oid, bytea),
      pg_catalog.lo_open(oid, integer)
    from public;
  end if;
end;
$$;

-- Schemas -------------------------------------------------------------------------------------------------------------

-- Schema platform exists already: it has the table that counts these migrations.
create schema app;
create schema related;
create schema functions;
create schema api;

comment on schema platform is 'Hand-written machinery: context, errors, ids, pages, dates, releases.';
comment on schema app is 'One table per model, with its checks and policies.';
comment on schema related is 'One view per model without row security: how generated SQL walks relations.';
comment on schema functions is 'Custom code of the project.';
comment on schema api is 'One function per action; all that a server may call.';

grant usage on schema platform, app, related, functions to sternpost_caller;
grant usage on schema platform, api to sternpost_server;

-- Databases made before PostgreSQL 15 let everybody create tables in schema public.
do $$
begin
  if exists (
    select
    from pg_namespace
    cross join aclexplode(pg_namespace.nspacl) as entry
    where pg_namespace.nspname = 'public'
      and entry.grantee = 0
      and entry.privilege_type = 'CREATE'
  ) then
    revoke create on schema public from public;
  end if;
end;
$$;

-- Functions -----------------------------------------------------------------------------------------------------------

-- The hash of the installed replaceable functions, so that they are replayed only when they have changed.
create table platform.function_version (
  hash text not null
);

create unique index function_version_one_row on platform.function_version ((true));

comment on table platform.function_version is 'One row: the hash of the installed functions of schema platform.';

-- Releases ------------------------------------------------------------------------------------------------------------

-- json, not jsonb: the order of members matters. Only platform.install_release writes rows.
create table platform.release (
  number bigint not null,
  source text not null,
  manifest json not null,
  description json not null,
  installed_at timestamptz(3) not null default now(),
  constraint release_pkey primary key (number),
  constraint release_number_check check (number > 0)
);

comment on table platform.release is 'What was installed: the newest row is what servers serve.';
comment on column platform.release.source is 'The schema it was compiled from.';
comment on column platform.release.manifest is 'What a server needs to serve it.';
comment on column platform.release.description is 'The compiled database, from which the next migration is computed.';

-- The description is for migrations: a server does not need it.
grant select (number, source, manifest, installed_at) on platform.release to sternpost_server;

-- Types ---------------------------------------------------------------------------------------------------------------

-- One column that a list is ordered by. `expression` and `type` are fragments of SQL fixed at compile time.
create type platform.sort_key as (
  name text,
  expression text,
  type text,
  is_nullable boolean,
  is_descending boolean
);

comment on type platform.sort_key is 'One column that a list is ordered by.';

-- The meaning of a relative date: from the start up to the end, which is not included. The local bounds are on the
-- caller's calendar, for columns of type date.
create type platform.period as (
  starts_at timestamptz,
  ends_at timestamptz,
  local_starts_at timestamp,
  local_ends_at timestamp
);

comment on type platform.period is 'A half-open span of time, as instants and on the local calendar.';
