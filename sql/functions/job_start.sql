-- Queues a run of a job for the caller of this transaction, and answers its id as the API does. It does not ask who may
-- start the job: the function of the action that starts it does. Custom code may call it too, as the caller that it has.
create or replace function platform.job_start(name text, inputs jsonb) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run text := platform.new_id();
begin
  if not exists (select from platform.job where job.name = job_start.name) then
    raise exception 'there is no job %', name;
  end if;

  insert into platform.task (kind, name, key, payload)
  values (
    'job',
    job_start.name,
    v_run,
    jsonb_build_object(
      'inputs', job_start.inputs,
      'identityId', platform.identity_id(),
      'isCalled', nullif(current_setting('sternpost.action', true), '') is not null,
      'requestId', nullif(current_setting('sternpost.request_id', true), ''),
      'depth', nullif(current_setting('sternpost.depth', true), '')
    )
  );
  return json_build_object('run', v_run)::text;
end;
$$;

comment on function platform.job_start(text, jsonb) is 'Queues a run of a job, and answers its id.';
grant execute on function platform.job_start(text, jsonb) to sternpost_code, sternpost_server;
