-- The state of a run, in the words of the API. Not granted to any role: only functions beside it use it.
create or replace function platform.job_state(task platform.task) returns text
language sql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select case
    when task.done_at is not null then 'succeeded'
    when task.failed_at is not null and task.failure = 'cancelled' then 'cancelled'
    when task.failed_at is not null then 'failed'
    when task.started_at is not null then 'running'
    else 'waiting'
  end;
$$;

comment on function platform.job_state(platform.task) is 'The state of a run, in the words of the API.';
