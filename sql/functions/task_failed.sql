-- Notes that a task could not be done. With a delay it is tried again after that; without one it is given up, and the
-- contents of a mail are erased. A run that was cancelled meanwhile stays so.
create or replace function platform.task_failed(id bigint, failure text, delay interval) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.task
  set
    attempts = task.attempts + 1,
    failure = task_failed.failure,
    holder = null,
    started_at = case when delay is null then task.started_at end,
    due_at = coalesce(clock_timestamp() + delay, task.due_at),
    failed_at = case when delay is null then clock_timestamp() end,
    content = case when delay is not null then task.content end
  where task.id = task_failed.id
    and (task.kind <> 'job' or task.failed_at is null);
$$;

comment on function platform.task_failed(bigint, text, interval) is 'Notes that a task could not be done, and when it is tried again.';
grant execute on function platform.task_failed(bigint, text, interval) to sternpost_server;
