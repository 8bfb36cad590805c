-- Lets a webhook go on that was stopped. What waits is due at once. It tells whether it was stopped.
create or replace function platform.events_resume(name text) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update platform.consumer
  set stopped_at = null
  where consumer.name = events_resume.name
    and consumer.stopped_at is not null;
  if not found then
    return false;
  end if;
  update platform.task
  set due_at = now()
  where task.kind = 'delivery'
    and task.name = events_resume.name
    and task.done_at is null
    and task.started_at is null;
  return true;
end;
$$;

comment on function platform.events_resume(text) is 'Lets a webhook go on that was stopped.';
grant execute on function platform.events_resume(text) to sternpost_server;
