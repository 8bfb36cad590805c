-- Ends all sign-ins of an identity. False if the identity does not exist.
create or replace function platform.auth_sign_out(identity_id text) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from app.identity where identity.id = auth_sign_out.identity_id) then
    return false;
  end if;
  perform platform.auth_end(identity_id, null);
  return true;
end;
$$;

comment on function platform.auth_sign_out(text) is 'Ends all sign-ins of an identity.';
grant execute on function platform.auth_sign_out(text) to sternpost_server;
