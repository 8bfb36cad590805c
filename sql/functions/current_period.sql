-- The meaning of a relative expression in this call: now, in the caller's time zone. Only the filters of lists use it.
--
-- It is declared immutable although time passes. No statement notices: a filter's statement is planned for one call. So
-- the planner evaluates it once, knows how many rows lie in the period, and can find them by an index.
create or replace function platform.current_period(expression text) returns platform.period
language plpgsql
immutable
strict
parallel safe
security invoker
as $$
begin
  return platform.relative_period(expression, platform.time_zone(), now());
end;
$$;

comment on function platform.current_period(text) is 'The period of a relative expression in this call.';
grant execute on function platform.current_period(text) to sternpost_caller, sternpost_code;
