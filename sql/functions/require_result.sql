-- For custom code that returns null although its result is required. The name of the function is for the log; callers
-- see an internal error.
create or replace function platform.require_result(function text) returns void
language plpgsql
volatile
security invoker
as $$
begin
  raise exception '% returned null', function;
end;
$$;

comment on function platform.require_result(text) is 'Ends the call: custom code has returned null.';
grant execute on function platform.require_result(text) to sternpost_caller, sternpost_code;
