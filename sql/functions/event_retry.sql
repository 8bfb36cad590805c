-- Runs the code of a subscriber again for the event of a task, in the transaction that notes that it is done. If another
-- server has done it meanwhile, nothing happens.
create or replace function platform.event_retry(id bigint) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task platform.task;
  v_run text;
begin
  select task.*
  from platform.task
  where task.id = event_retry.id
    and task.kind = 'event'
    and task.done_at is null
  for update
  into v_task;
  select consumer.run from platform.consumer where consumer.name = v_task.name into v_run;
  if v_task.id is null or v_run is null then
    return;
  end if;

  perform platform.event_run(v_run, v_task.name, v_task.payload->'event', (v_task.payload->>'depth')::integer + 1);
  perform platform.task_done(id, false);
end;
$$;

comment on function platform.event_retry(bigint) is 'Runs the code of a subscriber again for the event of a task.';
grant execute on function platform.event_retry(bigint) to sternpost_server;
