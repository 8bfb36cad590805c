-- Gives up a run that waits or runs, and tells whether it did. One that runs ends at once if the owner may cancel the
-- statements of servers; else its effects are undone when it ends.
create or replace function platform.job_cancel(run text) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update platform.task
  set
    failed_at = clock_timestamp(),
    failure = 'cancelled',
    holder = null
  where task.kind = 'job'
    and task.key = job_cancel.run
    and task.done_at is null
    and task.failed_at is null;
  if not found then
    return false;
  end if;

  begin
    perform pg_cancel_backend(running.pid)
    from pg_stat_activity as running
    where running.application_name = 'sternpost run ' || job_cancel.run;
  exception when insufficient_privilege then
    null;
  end;
  return true;
end;
$$;

comment on function platform.job_cancel(text) is 'Gives up a run that waits or runs.';
grant execute on function platform.job_cancel(text) to sternpost_server;
