-- Lets a run that failed, or was cancelled, run again, and tells whether it was such a run.
create or replace function platform.job_retry(run text) returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  with retried as (
    update platform.task
    set
      failed_at = null,
      failure = null,
      started_at = null,
      holder = null,
      attempts = 0,
      due_at = now()
    where task.kind = 'job'
      and task.key = job_retry.run
      and task.failed_at is not null
    returning task.id
  )
  select exists (select from retried);
$$;

comment on function platform.job_retry(text) is 'Lets a run that failed run again.';
grant execute on function platform.job_retry(text) to sternpost_server;
