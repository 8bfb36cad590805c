-- Lets a task wait that was taken too early, or that has a second part. It is no attempt.
create or replace function platform.task_later(id bigint, wait interval) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.task
  set
    due_at = clock_timestamp() + wait,
    holder = null,
    started_at = null,
    failure = null
  where task.id = task_later.id;
$$;

comment on function platform.task_later(bigint, interval) is 'Lets a task wait that was taken too early.';
grant execute on function platform.task_later(bigint, interval) to sternpost_server;
