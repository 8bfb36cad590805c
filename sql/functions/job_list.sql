-- The latest runs of jobs, for developers and for who operates the application.
create or replace function platform.job_list(most integer)
returns table (
  run text,
  job text,
  inputs jsonb,
  state text,
  asked_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  attempts integer,
  result jsonb,
  failure text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    task.key,
    task.name,
    task.payload->'inputs',
    platform.job_state(task),
    task.asked_at,
    task.started_at,
    coalesce(task.done_at, task.failed_at),
    task.attempts,
    task.result,
    task.failure
  from platform.task
  where task.kind = 'job'
  order by task.asked_at desc, task.id desc
  limit most;
$$;

comment on function platform.job_list(integer) is 'The latest runs of jobs.';
grant execute on function platform.job_list(integer) to sternpost_server;
