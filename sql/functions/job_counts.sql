-- How many runs of each job wait, run, have failed or were cancelled, as a JSON array.
create or replace function platform.job_counts() returns json
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(json_agg(json_build_object('job', counted.job, 'state', counted.state, 'runs', counted.runs)), '[]')
  from (
    select
      task.name as job,
      platform.job_state(task) as state,
      count(*) as runs
    from platform.task
    where task.kind = 'job'
      and task.done_at is null
    group by 1, 2
  ) as counted;
$$;

comment on function platform.job_counts() is 'How many runs of each job wait, run, have failed or were cancelled.';
grant execute on function platform.job_counts() to sternpost_server;
