-- Gives up what consumers have left unread for so long, so that the record of changes goes on: these events become tasks
-- that are given up. Of each consumer at most so many changes are read, in the order in which they were written; later
-- ones that are read with them become tasks that are due. It returns how many events it has given up, by the names of
-- the consumers; none is named that has nothing left to give up.
create or replace function platform.events_give_up(away interval, most integer) returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor bigint;
  v_latest record;
  v_until bigint := 0;
  v_consumer platform.consumer;
  v_read record;
  v_change platform.change;
  v_event jsonb;
  v_count integer;
  v_counts jsonb := '{}';
begin
  -- Before anything is locked, which gives this transaction its number.
  select case when change_seq.is_called then change_seq.last_value else 0 end from platform.change_seq into v_floor;

  for v_day in 0..7 loop
    execute format('select seq, at from platform.change_%s order by seq desc limit 1', v_day) into v_latest;
    if v_latest.at < now() - away then
      v_until := greatest(v_until, v_latest.seq);
    end if;
  end loop;

  for v_consumer in
    select consumer.*
    from platform.consumer
    where consumer.floor < v_until
      and consumer.cluster is not distinct from platform.cluster()
    order by consumer.name
    for update skip locked
  loop
    select * from platform.events_read(v_consumer, v_floor, most) into v_read;
    v_consumer := v_read.consumer;
    v_count := 0;
    foreach v_change in array coalesce(v_read.changes, '{}') loop
      v_event := platform.event_told(v_consumer, v_change);
      continue when v_event is null;
      perform platform.event_task(
        v_consumer,
        v_change,
        v_event,
        case when v_change.seq <= v_until then 'its subscriber has not read it in time' end,
        v_change.seq <= v_until,
        null
      );
      v_count := v_count + (v_change.seq <= v_until)::integer;
    end loop;
    perform platform.events_keep(v_consumer);
    v_counts := v_counts || jsonb_build_object(v_consumer.name, v_count);
  end loop;
  return v_counts;
end;
$$;

comment on function platform.events_give_up(interval, integer) is 'Gives up what consumers have left unread for so long.';
grant execute on function platform.events_give_up(interval, integer) to sternpost_server;
