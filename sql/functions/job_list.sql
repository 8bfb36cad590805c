-- The latest runs of jobs, as a JSON array, for developers and for who operates the application.
create or replace function platform.job_list(most integer) returns json
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    json_agg(
      json_build_object(
        'run', task.key,
        'job', task.name,
        'inputs', task.payload->'inputs',
        'state', task.state,
        'askedAt', task.asked_at,
        'endedAt', coalesce(task.done_at, task.failed_at),
        'dueAt', task.due_at,
        'attempts', task.attempts,
        'result', task.result,
        'failure', task.failure
      )
      order by task.asked_at desc, task.id desc
    ),
    '[]'
  )
  from (
    select
      task.*,
      platform.job_state(task) as state
    from platform.task
    where task.kind = 'job'
    order by task.asked_at desc, task.id desc
    limit most
  ) as task;
$$;

comment on function platform.job_list(integer) is 'The latest runs of jobs.';
grant execute on function platform.job_list(integer) to sternpost_server;
