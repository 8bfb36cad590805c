-- Empties the partitions of platform.change whose latest change is older than keep, once each consumer has read them: all
-- of their transactions are visible in what it has seen. A partition is emptied at once, under a lock that no writer
-- meets, and looked at again behind that lock: a long transaction may just have written to it.
create or replace function platform.events_tend(keep interval) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_is_locked boolean;
  v_is_read boolean;
  v_count integer := 0;
begin
  for v_day in 0..7 loop
    foreach v_is_locked in array array[false, true] loop
      execute format(
        'select latest.at < now() - $1 and not exists (
          select
          from platform.consumer
          where consumer.cluster is distinct from platform.cluster()
            or exists (
              select
              from platform.change_%1$s as change
              where change.seq > consumer.base
                and (change.xid >= pg_snapshot_xmax(consumer.seen) or change.xid = any (array(select pg_snapshot_xip(consumer.seen))))
            )
        )
        from (select at from platform.change_%1$s order by seq desc limit 1) as latest',
        v_day
      )
      into v_is_read
      using keep;
      exit when v_is_read is not true;
      if v_is_locked then
        execute format('truncate platform.change_%s', v_day);
        v_count := v_count + 1;
      else
        execute format('lock table platform.change_%s in access exclusive mode', v_day);
      end if;
    end loop;
  end loop;
  return v_count;
exception when lock_not_available then
  return 0; -- a reader is at it: later
end;
$$;

comment on function platform.events_tend(interval) is 'Empties the partitions of platform.change that everybody has read.';
grant execute on function platform.events_tend(interval) to sternpost_server;
