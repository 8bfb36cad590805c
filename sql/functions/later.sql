-- A point in time and a Duration after it. Postgres by itself would count months and days on the calendar of the session's zone.
create or replace function platform.later(at timestamptz, by interval) returns timestamptz
language sql
immutable
parallel safe
security invoker
as $$
  select timezone('UTC', timezone('UTC', at) + by);
$$;

comment on function platform.later(timestamptz, interval) is 'The time that is a Duration later, on the calendar of UTC.';
grant execute on function platform.later(timestamptz, interval) to sternpost_caller, sternpost_code;
