-- What a consumer has not seen yet, at most so many changes in the order in which they were written, and the consumer as
-- it is after them. Not granted to any role: the caller has locked the consumer, and keeps what is returned.
--
-- New are the changes of transactions that began after the kept snapshot, or that were running then, if they are visible
-- in the snapshot of now. The changes up to that snapshot are read in the order of seq, over as many calls as it takes.
--
-- The transactions that ran when a snapshot was taken are those in it and some behind its xmax, but none behind the
-- fence, which is the transaction that took it. floor is the last seq before the fence had begun, so what is behind the
-- fence has a greater one. The caller has read it before it wrote anything.
create or replace function platform.events_read(
  inout consumer platform.consumer,
  floor bigint,
  most integer,
  out changes platform.change[]
)
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own xid8 := pg_current_xact_id();
  v_last bigint;
  v_running xid8[];
begin
  if consumer.upto is null then
    consumer.next_floor := events_read.floor;
    consumer.next_fence := v_own;
    consumer.upto := pg_current_snapshot();

    -- A snapshot takes its own transaction for done, but code that runs in it may write yet.
    if v_own < pg_snapshot_xmax(consumer.upto) then
      consumer.upto := format(
        '%s:%s:%s',
        least(pg_snapshot_xmin(consumer.upto), v_own),
        pg_snapshot_xmax(consumer.upto),
        (
          select string_agg(running::text, ',' order by running)
          from (select pg_snapshot_xip(consumer.upto) union select v_own) as all_running (running)
        )
      )::pg_snapshot;
    end if;
  end if;

  v_running := array(select pg_snapshot_xip(consumer.seen));
  if consumer.after is null then
    consumer.after := greatest(consumer.base, least(
      consumer.floor,
      (select min(change.seq) - 1 from platform.change where change.xid = any (v_running)),
      (
        select min(change.seq) - 1
        from platform.change
        where change.xid >= pg_snapshot_xmax(consumer.seen)
          and change.xid < consumer.fence
      )
    ));
  end if;

  select
    array_agg(found.change order by found.seq),
    max(found.seq)
  into changes, v_last
  from (
    select
      change,
      change.seq
    from platform.change
    where change.seq > consumer.after
      and (change.xid >= pg_snapshot_xmax(consumer.seen) or change.xid = any (v_running))
      and pg_visible_in_snapshot(change.xid, consumer.upto)
    order by change.seq
    limit most
  ) as found;

  consumer := platform.events_passed(consumer, case when cardinality(changes) = most then v_last end);
end;
$$;

comment on function platform.events_read(platform.consumer, bigint, integer) is 'What a consumer has not seen yet.';
