-- Refuses a caller whose identity is gone or whose access token is over, but only when it matters: an action whose rules prove that the caller exists
-- calls this before it answers without a row, and so does every function that ends a call. The view is generated, so it
-- does not exist yet when this function is installed, and an anonymous call must not read it.
create or replace function platform.require_caller() returns void
language plpgsql
stable
security invoker
as $$
declare
  v_identity_id text := platform.identity_id();
begin
  perform platform.require_newest();
  if v_identity_id is not null and not exists (select from platform.caller(v_identity_id, platform.token())) then
    perform platform.refuse_caller(v_identity_id);
  end if;
end;
$$;

comment on function platform.require_caller() is 'Ends the call of a caller whose identity is gone or whose access token is over.';
grant execute on function platform.require_caller() to sternpost_caller, sternpost_code;
