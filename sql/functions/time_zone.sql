-- The time zone of the caller's days: for relative dates only, never for how a value is written.
create or replace function platform.time_zone() returns text
language sql
stable
parallel safe
security invoker
as $$
  select coalesce(nullif(current_setting('sternpost.time_zone', true), ''), 'UTC');
$$;

comment on function platform.time_zone() is 'The caller''s time zone; UTC unless the request names one.';
grant execute on function platform.time_zone() to sternpost_caller, sternpost_code;
