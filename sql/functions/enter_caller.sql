-- The part of platform.enter for calls that have more to bind than the action: makes sure that the caller exists, and sets what
-- the server tells besides.
create or replace function platform.enter_caller(context jsonb) returns text
language plpgsql
volatile
security invoker
as $$
begin
  -- Bound, it would read as nobody.
  if context->>'identityId' = '' then
    perform platform.refuse_caller();
  end if;

  perform platform.require_caller();
  return platform.enter_request(context);
end;
$$;

comment on function platform.enter_caller(jsonb) is 'The part of platform.enter for calls that have more to bind than the action.';
grant execute on function platform.enter_caller(jsonb) to sternpost_caller, sternpost_code;
