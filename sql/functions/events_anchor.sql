-- Lets a consumer begin anew in another cluster, after a restore: what it had not seen becomes tasks, in the order in
-- which it was written, and the transaction numbers in the record so far mean nothing any more. Not granted to any role:
-- the caller has locked the consumer.
create or replace function platform.events_anchor(consumer platform.consumer, floor bigint) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_running xid8[] := array(select pg_snapshot_xip(consumer.seen));
  v_change platform.change;
  v_event jsonb;
begin
  for v_change in
    select change.*
    from platform.change
    where change.seq > consumer.base
      and (change.xid >= pg_snapshot_xmax(consumer.seen) or change.xid = any (v_running))
      and (
        consumer.upto is null
        or change.seq > consumer.after
        or not pg_visible_in_snapshot(change.xid, consumer.upto)
      )
    order by change.seq
  loop
    v_event := platform.event_told(consumer, v_change);
    continue when v_event is null;
    perform platform.event_task(consumer, v_change, v_event, null, false, null);
  end loop;

  update platform.consumer as kept
  set
    cluster = platform.cluster(),
    base = events_anchor.floor,
    seen = pg_current_snapshot(),
    fence = pg_current_xact_id(),
    floor = events_anchor.floor,
    upto = null,
    after = null,
    holder = null,
    leased_until = null
  where kept.name = consumer.name;
end;
$$;

comment on function platform.events_anchor(platform.consumer, bigint) is 'Lets a consumer begin anew in another cluster.';
