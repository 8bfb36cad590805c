-- Runs the code of a job for a task, in the transaction that notes that it is done: so its effects happen once. If the
-- run was cancelled, or another server has done it, nothing happens; if it is cancelled meanwhile, its effects are
-- undone. values are the environment and the secrets that the code may read.
create or replace function platform.job_run(id bigint, "values" jsonb) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task platform.task;
  v_run text;
  v_result jsonb;
begin
  -- A server that is gone may have left this run to another while Postgres still carries it out. The row is not locked,
  -- or it could not be cancelled.
  perform platform.take_turn('run', id::text);
  select task.*
  from platform.task
  where task.id = job_run.id
    and task.kind = 'job'
    and task.done_at is null
    and task.failed_at is null
  into v_task;
  if v_task.id is null then
    return;
  end if;
  select job.run from platform.job where job.name = v_task.name into v_run;
  if v_run is null then
    raise exception 'the release has no job %', v_task.name;
  end if;

  perform set_config('application_name', 'sternpost run ' || v_task.key, true); -- for platform.job_cancel
  execute format('select api.%I($1, $2)', v_run)
  into v_result
  using v_task.payload->'inputs', "values" || (v_task.payload - 'inputs');
  perform set_config('sternpost.job', '', true), set_config('sternpost.depth', '', true), set_config('sternpost.origin', '', true);

  update platform.task
  set result = v_result
  where task.id = job_run.id
    and task.failed_at is null;
  if not found then
    raise exception 'the run was cancelled' using errcode = 'query_canceled';
  end if;
  perform platform.task_done(id, false);
end;
$$;

comment on function platform.job_run(bigint, jsonb) is 'Runs the code of a job for a task.';
grant execute on function platform.job_run(bigint, jsonb) to sternpost_server;
