-- The schedules of jobs, each with the latest slot that was queued, as a JSON array.
create or replace function platform.schedules() returns json
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    json_agg(json_build_object('job', schedule.job, 'text', schedule.text, 'timeZone', schedule.time_zone, 'slot', schedule.slot)),
    '[]'
  )
  from platform.schedule;
$$;

comment on function platform.schedules() is 'The schedules of jobs, each with the latest slot that was queued.';
grant execute on function platform.schedules() to sternpost_server;
