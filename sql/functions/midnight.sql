-- A Date where it meets a Timestamp: its midnight in UTC. Postgres by itself would take the midnight of the session's zone.
create or replace function platform.midnight(day date) returns timestamptz
language sql
immutable
parallel safe
security invoker
as $$
  select day::timestamp at time zone 'UTC';
$$;

comment on function platform.midnight(date) is 'The midnight in UTC at which a Date begins.';
grant execute on function platform.midnight(date) to sternpost_caller, sternpost_code;
