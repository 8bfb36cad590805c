-- Queues the run for a slot of a schedule, unless another server has: the slot is then not later than the one in the
-- row. It tells whether it did. The run has no caller and no inputs.
create or replace function platform.schedule_due(job text, "text" text, time_zone text, slot timestamptz) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update platform.schedule
  set slot = schedule_due.slot
  where schedule.job = schedule_due.job
    and schedule.text = schedule_due.text
    and schedule.time_zone = schedule_due.time_zone
    and schedule.slot < schedule_due.slot;
  if not found then
    return false;
  end if;

  perform platform.job_start(schedule_due.job, '{}');
  return true;
end;
$$;

comment on function platform.schedule_due(text, text, text, timestamptz) is 'Queues the run for a slot of a schedule, once.';
grant execute on function platform.schedule_due(text, text, text, timestamptz) to sternpost_server;
