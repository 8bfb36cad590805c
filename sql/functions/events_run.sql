-- Runs the code of a subscriber for what it has not seen yet, at most so many changes, in the transaction that notes that
-- it has: so its effects happen once. It returns how many changes it has read; null if another server is at it.
--
-- A failure undoes what the code has done for its event, which becomes a task, and is tried again. The later events of
-- its record wait behind it, as tasks too. If runs is false, each event becomes a task at once: for code that has ended
-- the whole transaction, as by a timeout.
create or replace function platform.events_run(name text, most integer, runs boolean) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_consumer platform.consumer;
  v_read record;
  v_changes platform.change[];
  v_change platform.change;
  v_event jsonb;
  v_failure text;
  v_is_dead boolean;
  v_floor bigint;
begin
  -- Before anything is locked, which gives this transaction its number.
  select case when change_seq.is_called then change_seq.last_value else 0 end from platform.change_seq into v_floor;

  select consumer.*
  from platform.consumer
  where consumer.name = events_run.name
    and consumer.run is not null
  for update skip locked
  into v_consumer;
  if not found then
    return null;
  end if;
  if v_consumer.cluster is distinct from platform.cluster() then
    perform platform.events_anchor(v_consumer, v_floor);
    return 0;
  end if;

  select * from platform.events_read(v_consumer, v_floor, most) into v_read;
  v_consumer := v_read.consumer;
  v_changes := v_read.changes;
  foreach v_change in array coalesce(v_changes, '{}') loop
    v_event := platform.event_told(v_consumer, v_change);
    continue when v_event is null;
    v_failure := null;
    v_is_dead := v_change.depth > 15;

    if v_is_dead then
      v_failure := 'it ends a chain of more than 15 events';
    elsif not runs or exists (
      select
      from platform.task
      where task.kind = 'event'
        and task.name = events_run.name
        and task.key = v_change.record
        and task.done_at is null
    ) then
      v_failure := '';
    else
      begin
        perform platform.event_run(v_consumer.run, v_consumer.name, v_event, v_change.depth + 1);
      exception when others then
        v_failure := sqlstate || ' ' || sqlerrm;
      end;
    end if;

    if v_failure is not null then
      perform platform.event_task(v_consumer, v_change, v_event, nullif(v_failure, ''), v_is_dead, null);
    end if;
  end loop;

  perform platform.events_keep(v_consumer);
  return coalesce(cardinality(v_changes), 0);
end;
$$;

comment on function platform.events_run(text, integer, boolean) is 'Runs the code of a subscriber for what it has not seen yet.';
grant execute on function platform.events_run(text, integer, boolean) to sternpost_server;
