-- Further owners of the functions in api. On each call, Postgres locks every relation that the policies of a table name
-- for the running role, also in policies of other actions. So actions whose policies do not walk relations run as
-- sternpost_open. The others are spread over sternpost_caller and seven roles like it, with a few relations each. A
-- schema names its owners, so a fixed number of roles serves all databases of a cluster. Roles belong to the cluster,
-- as the first migration says.

do $$
declare
  v_roles text[] := array['sternpost_open'] || array(select 'sternpost_caller_' || number from generate_series(2, 8) as number);
  v_role text;
begin
  foreach v_role in array v_roles loop
    if to_regrole(v_role) is null then
      begin
        execute format('create role %I nologin', v_role);
        execute format(
          'comment on role %I is %L',
          v_role,
          case v_role
            when 'sternpost_open' then 'Owns the functions in schema api whose policies walk no relation, and so is who they run as. Never logs in.'
            else 'Owns functions in schema api, and so is who they run as. Never logs in.'
          end
        );
      exception
        when duplicate_object or unique_violation then
          -- Another database was faster. This session does not see the role until it locks a relation.
          perform from pg_roles where pg_roles.rolname = v_role;
      end;
    end if;

    if not pg_has_role(current_user, v_role, 'usage')
      or not pg_has_role(current_user, v_role, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)
    then
      begin
        execute format('grant %I to %I', v_role, current_user);
      exception
        when unique_violation then
          null; -- granted by another database
        when insufficient_privilege then
          raise exception 'role % exists, and % may not become a member of it', v_role, current_user using
            errcode = 'insufficient_privilege',
            hint = format('Run as a superuser: grant %s to %I', array_to_string(v_roles, ', '), current_user);
      end;
    end if;

    execute format('grant usage on schema platform, app, related to %I', v_role);
    execute format('grant select on all tables in schema related to %I', v_role);
  end loop;
end;
$$;
