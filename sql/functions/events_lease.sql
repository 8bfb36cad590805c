-- Hands out what a webhook has not been told yet, at most so many changes, and leases the webhook to a server that sends
-- it outside of any transaction. Nothing has moved: without platform.events_settle, the next lease hands out the same.
-- It returns null if another server has the lease, else what was read. waits says of an event that an earlier one of its
-- record is a task. last is the seq up to which was read, null if that is all. Without lease there is nothing to send.
create or replace function platform.events_lease(name text, lease interval, holder integer, most integer) returns json
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor bigint;
  v_consumer platform.consumer;
  v_read record;
  v_after platform.consumer;
  v_last bigint;
  v_change platform.change;
  v_event jsonb;
  v_events json[] := '{}';
  v_size bigint := 0;
  v_count integer := 0;
begin
  -- Before anything is locked, which gives this transaction its number.
  select case when change_seq.is_called then change_seq.last_value else 0 end from platform.change_seq into v_floor;

  select consumer.*
  from platform.consumer
  where consumer.name = events_lease.name
    and consumer.run is null
    and platform.events_is_free(consumer)
  for update skip locked
  into v_consumer;
  if not found then
    return null;
  end if;
  if v_consumer.cluster is distinct from platform.cluster() then
    perform platform.events_anchor(v_consumer, v_floor);
    return json_build_object('read', 0);
  end if;

  select * from platform.events_read(v_consumer, v_floor, most) into v_read;
  v_after := v_read.consumer;
  v_last := v_after.after;
  foreach v_change in array coalesce(v_read.changes, '{}') loop
    v_count := v_count + 1;
    v_event := platform.event_told(v_consumer, v_change);
    continue when v_event is null;
    v_events := v_events || json_build_object(
      'seq', v_change.seq,
      'record', v_change.record,
      'depth', v_change.depth,
      'event', v_event,
      'waits', exists (
        select
        from platform.task
        where task.kind = 'delivery'
          and task.name = events_lease.name
          and task.key = v_change.record
          and task.done_at is null
      )
    );
    v_size := v_size + octet_length(v_event::text);
    if v_size > 4194304 then
      v_last := v_change.seq;
      exit;
    end if;
  end loop;

  if cardinality(v_events) = 0 then
    perform platform.events_keep(v_after);
    return json_build_object('read', v_count, 'last', v_last);
  end if;
  v_consumer.upto := coalesce(v_after.upto, v_after.seen);
  v_consumer.next_fence := v_after.next_fence;
  v_consumer.next_floor := v_after.next_floor;
  v_consumer.holder := events_lease.holder;
  v_consumer.leased_until := clock_timestamp() + events_lease.lease;
  perform platform.events_keep(v_consumer);
  return json_build_object('read', v_count, 'last', v_last, 'lease', v_consumer.leased_until, 'events', v_events);
end;
$$;

comment on function platform.events_lease(text, interval, integer, integer) is 'Hands out what a webhook has not been told yet, to a server that sends it.';
grant execute on function platform.events_lease(text, interval, integer, integer) to sternpost_server;
