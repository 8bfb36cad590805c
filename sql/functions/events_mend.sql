-- Lets an event be tried again that waits or was given up, or passes over it: that of an id, or those of a subscriber, of
-- which only those that were given up are passed over. One that is being told is left alone. It returns how many those
-- are. A chain of events begins anew.
create or replace function platform.events_mend(is_skipped boolean, id bigint, name text) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  update platform.task
  set
    done_at = case when is_skipped then clock_timestamp() end,
    failure = case when is_skipped then coalesce(task.failure, 'skipped') else task.failure end,
    failed_at = case when is_skipped then task.failed_at end,
    due_at = now(),
    attempts = case when is_skipped then task.attempts else 0 end,
    payload = case when is_skipped then task.payload else jsonb_set(task.payload, '{depth}', '0') end
  where task.kind in ('event', 'delivery')
    and task.done_at is null
    and (task.failed_at is not null or task.started_at is null)
    and (task.id = events_mend.id or task.name = events_mend.name and (task.failed_at is not null or not is_skipped));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

comment on function platform.events_mend(boolean, bigint, text) is 'Lets events be tried again that wait or were given up, or passes over them.';
grant execute on function platform.events_mend(boolean, bigint, text) to sternpost_server;
