-- The roles of a caller, in lower case: the columns of the view that rules ask which are true, is_box_office for BoxOffice.
-- The view is generated, and does not exist without roles that have members. A caller who is gone is refused.
create or replace function platform.caller_roles(identity_id text, token text) returns text[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles text[];
begin
  perform set_config('sternpost.identity_id', identity_id, true), set_config('sternpost.token', token, true);
  perform platform.require_caller();
  if to_regclass('related.caller__roles') is null then
    return '{}';
  end if;
  execute $sql$
    select array(
      select replace(substr(role.key, 4), '_', '')
      from related.caller__roles as caller, jsonb_each(to_jsonb(caller)) as role
      where role.value = 'true'
    )
  $sql$
  into v_roles;
  return v_roles;
end;
$$;

comment on function platform.caller_roles(text, text) is 'The roles of a caller.';
grant execute on function platform.caller_roles(text, text) to sternpost_server;
