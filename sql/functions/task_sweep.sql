-- Deletes tasks a day after they ended, at most so many, and tells whether some may be left. For that day it can be seen
-- what became of them. Events that were given up stay until somebody retries or skips them, and runs that failed for 30
-- days.
create or replace function platform.task_sweep(most integer) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from platform.task
  where task.id in (
    select old.id
    from platform.task as old
    where coalesce(old.done_at, old.failed_at) < now() - interval '1 day'
      and (old.done_at is not null or old.failed_at is not null)
      and (old.done_at is not null or old.kind not in ('event', 'delivery'))
      and (old.done_at is not null or old.kind <> 'job' or old.failed_at < now() - interval '30 days')
    limit most
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count = most;
end;
$$;

comment on function platform.task_sweep(integer) is 'Deletes tasks a day after they ended.';
grant execute on function platform.task_sweep(integer) to sternpost_server;
