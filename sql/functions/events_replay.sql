-- Tells a subscriber again what it was told since a moment, as far as the record of changes still has it. It returns how
-- many events those are, null if there is no such subscriber.
create or replace function platform.events_replay(name text, since timestamptz) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_consumer platform.consumer;
  v_change platform.change;
  v_event jsonb;
  v_count integer := 0;
begin
  select consumer.* from platform.consumer where consumer.name = events_replay.name for update into v_consumer;
  if not found then
    return null;
  end if;

  for v_change in
    select change.*
    from platform.change
    where change.at >= since
      and (
        change.seq <= v_consumer.base
        or pg_visible_in_snapshot(change.xid, v_consumer.seen)
        or change.seq <= v_consumer.after and pg_visible_in_snapshot(change.xid, v_consumer.upto)
      )
    order by change.seq
  loop
    v_event := platform.event_told(v_consumer, v_change);
    continue when v_event is null;
    perform platform.event_task(v_consumer, v_change, v_event, null, false, null);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;

comment on function platform.events_replay(text, timestamptz) is 'Tells a subscriber again what it was told since a moment.';
grant execute on function platform.events_replay(text, timestamptz) to sternpost_server;
