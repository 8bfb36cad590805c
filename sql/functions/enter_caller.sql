-- The part of platform.enter for calls that bind more than the action. It makes sure that the caller exists, and sets
-- the other things that the server tells.
create or replace function platform.enter_caller(context jsonb) returns text
language plpgsql
volatile
security invoker
as $$
begin
  -- An empty id would read as an anonymous caller.
  if context->>'identityId' = '' then
    perform platform.refuse_caller();
  end if;

  perform platform.require_caller();
  return platform.enter_request(context);
end;
$$;

comment on function platform.enter_caller(jsonb) is 'The part of platform.enter for calls that bind more than the action.';
grant execute on function platform.enter_caller(jsonb) to sternpost_caller, sternpost_code;
