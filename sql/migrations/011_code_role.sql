-- A role for custom code. The policies for it do not depend on the running action: the code could name another action,
-- and Postgres keeps the plans that were made meanwhile. Roles belong to the cluster, as the first migration says.

do $$
begin
  if to_regrole('sternpost_code') is null then
    begin
      create role sternpost_code nologin;
      comment on role sternpost_code is
        'Owns the functions in schema api that call custom code, and so is who that runs as. Never logs in.';
    exception
      when duplicate_object or unique_violation then
        null; -- another database was faster
    end;
  end if;

  if not pg_has_role(current_user, 'sternpost_code', 'usage')
    or not pg_has_role(
      current_user, 'sternpost_code', case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end
    )
  then
    begin
      execute format('grant sternpost_code to %I', current_user);
    exception
      when unique_violation then
        null; -- granted by another database
      when insufficient_privilege then
        raise exception 'role sternpost_code exists, and % may not become a member of it', current_user using
          errcode = 'insufficient_privilege',
          hint = format('Run as a superuser: grant sternpost_code to %I', current_user);
    end;
  end if;
end;
$$;

grant usage on schema platform, app, related, functions to sternpost_code;
grant select on all tables in schema related to sternpost_code;

-- Installed custom code continues as sternpost_caller until the next release.
do $$
begin
  if not exists (select from pg_proc where pg_proc.pronamespace = 'functions'::regnamespace) then
    revoke usage on schema functions from sternpost_caller;
  end if;
end;
$$;
