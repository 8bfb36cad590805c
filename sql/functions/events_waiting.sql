-- The subscribers that may have something to read, and that no other server reads for: those that are reading, and those
-- for which a change has become visible since their snapshot.
create or replace function platform.events_waiting() returns text[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last bigint;
  v_cluster bigint := platform.cluster();
begin
  select case when change_seq.is_called then change_seq.last_value else 0 end from platform.change_seq into v_last;
  return array(
    select consumer.name
    from platform.consumer
    where platform.events_is_free(consumer)
      and (
        consumer.upto is not null
        or consumer.cluster is distinct from v_cluster
        or consumer.floor < v_last
        or exists (select from platform.change where change.xid = any (array(select pg_snapshot_xip(consumer.seen))))
        or exists (
          select
          from platform.change
          where change.xid >= pg_snapshot_xmax(consumer.seen)
            and change.xid < consumer.fence
        )
      )
    order by consumer.name
  );
end;
$$;

comment on function platform.events_waiting() is 'The subscribers that may have something to read.';
grant execute on function platform.events_waiting() to sternpost_server;
