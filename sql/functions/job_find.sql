-- A run of a job for who started it, as the API answers it; null if there is none. Who has started it without signing in
-- was told its id, of which 62 bits are random, and nobody else was; a run by a schedule or a shell has nobody who
-- started it. A failure is told if the code has raised it for its callers, by a code of class SP.
create or replace function platform.job_find(name text, run text, context jsonb) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.enter('custom code', context);
  return (
    select json_build_object(
      'run', task.key,
      'state', platform.job_state(task),
      'startedAt', platform.iso(task.started_at),
      'finishedAt', platform.iso(coalesce(task.done_at, task.failed_at)),
      'attempts', task.attempts,
      'result', task.result,
      'message', case
        when task.failure ~ '^SP4(00|03|04|09) ' then substr(task.failure, 7)
        when task.failure = 'cancelled' then 'the run was cancelled'
        when task.failure is not null then 'the run failed'
      end
    )::text
    from platform.task
    where task.kind = 'job'
      and task.name = job_find.name
      and task.key = job_find.run
      and task.payload->>'identityId' is not distinct from platform.identity_id()
      and (task.payload->'isCalled')::boolean
  );
end;
$$;

comment on function platform.job_find(text, text, jsonb) is 'A run of a job for who started it.';
grant execute on function platform.job_find(text, text, jsonb) to sternpost_server;
