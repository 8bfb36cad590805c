-- Empties the partitions of platform.change whose latest change is older than keep, once each consumer has read them. A
-- partition is emptied at once, under a lock that no writer meets. Changes that a consumer has not read stay.
create or replace function platform.events_tend(keep interval) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_latest record;
  v_count integer := 0;
begin
  for v_day in 0..7 loop
    execute format('select seq, at, xid from platform.change_%s order by seq desc limit 1', v_day) into v_latest;
    if v_latest.at < now() - keep and not exists (
      select
      from platform.consumer
      where consumer.floor < v_latest.seq
        or consumer.upto is not null
        or not pg_visible_in_snapshot(v_latest.xid, consumer.seen)
    ) then
      execute format('truncate platform.change_%s', v_day);
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
exception when lock_not_available then
  return 0; -- a reader is at it: later
end;
$$;

comment on function platform.events_tend(interval) is 'Empties the partitions of platform.change that everybody has read.';
grant execute on function platform.events_tend(interval) to sternpost_server;
