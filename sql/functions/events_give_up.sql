-- Gives up what consumers have left unread for so long, or while so many bytes were written behind it, so that the
-- record of changes goes on: these events become tasks that are given up. Of each consumer at most so many changes are
-- read, in the order in which they were written; later ones that are read with them become tasks that are due. It
-- returns how many events it has given up, by the names of the consumers; none is named that has nothing left to give up.
create or replace function platform.events_give_up(
  away interval,
  most integer,
  bytes bigint default 1073741824
) returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor bigint;
  v_part text;
  v_first bigint;
  v_latest record;
  v_size bigint;
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

  for v_age in 0..7 loop -- the newest day first
    v_part := 'platform.change_' || (extract(epoch from clock_timestamp())::bigint / 86400 - v_age) % 8;
    execute format('select seq from %s order by seq limit 1', v_part) into v_first;
    continue when v_first is null;
    execute format('select seq, at from %s order by seq desc limit 1', v_part) into v_latest;
    v_size := pg_total_relation_size(v_part);
    v_until := greatest(v_until, case
      when v_latest.at < now() - away then v_latest.seq
      when v_size > bytes then v_latest.seq - ((v_latest.seq - v_first + 1) * (bytes::float8 / v_size))::bigint
      else 0
    end);
    bytes := greatest(bytes - v_size, 0);
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

comment on function platform.events_give_up(interval, integer, bigint) is 'Gives up what consumers have left unread for so long, or by so much.';
grant execute on function platform.events_give_up(interval, integer, bigint) to sternpost_server;
