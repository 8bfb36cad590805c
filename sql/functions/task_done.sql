-- Notes that a task is done, unless it is a run that was cancelled meanwhile. The contents of a mail are erased unless they are kept for developers. A task about a file
-- is not kept.
create or replace function platform.task_done(id bigint, is_kept boolean) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from platform.task
  where task.id = task_done.id
    and task.kind in ('file', 'upload');

  update platform.task
  set
    done_at = clock_timestamp(),
    attempts = task.attempts + 1,
    failure = null,
    content = case when is_kept then task.content end
  where task.id = task_done.id
    and task.done_at is null
    and (task.kind <> 'job' or task.failed_at is null);
$$;

comment on function platform.task_done(bigint, boolean) is 'Notes that a task is done.';
grant execute on function platform.task_done(bigint, boolean) to sternpost_server;
