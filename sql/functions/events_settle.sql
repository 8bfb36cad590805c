-- Notes what a server has sent under a lease: all up to a seq, or all that was read if that is null, but for two lists.
-- What waits becomes a task that is due; what the server holds, since it has failed or is not answered yet, becomes a
-- task that is leased to it for so long. It returns the ids of the latter, null for a change that is no event any more,
-- and null in place of the list if the lease has expired.
create or replace function platform.events_settle(
  name text,
  lease timestamptz,
  last bigint,
  waiting bigint[],
  held bigint[],
  hold interval
) returns bigint[]
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_consumer platform.consumer;
  v_change platform.change;
  v_event jsonb;
  v_id bigint;
  v_ids bigint[] := '{}';
begin
  select consumer.*
  from platform.consumer
  where consumer.name = events_settle.name
    and consumer.leased_until = events_settle.lease
  for update
  into v_consumer;
  if not found then
    return null;
  end if;

  for v_change in
    select change.*
    from platform.change
    where change.seq = any (waiting || held)
    order by change.seq
  loop
    v_event := platform.event_told(v_consumer, v_change);
    v_id := null;
    if v_event is not null then
      v_id := platform.event_task(v_consumer, v_change, v_event, null, false, case when v_change.seq = any (held) then hold end);
    end if;
    if v_change.seq = any (held) then
      v_ids := array_append(v_ids, v_id);
    end if;
  end loop;
  perform platform.events_keep(platform.events_passed(v_consumer, last));
  return v_ids;
end;
$$;

comment on function platform.events_settle(text, timestamptz, bigint, bigint[], bigint[], interval) is 'Notes what a server has sent under a lease.';
grant execute on function platform.events_settle(text, timestamptz, bigint, bigint[], bigint[], interval) to sternpost_server;
