-- Makes a task of an event that its subscriber could not be told: with a failure it is tried again in a moment, or never
-- if it is over. Without one it waits behind another of its record. A held one is leased to the server that has the
-- consumer. Not granted to any role: only functions beside it use it.
create or replace function platform.event_task(
  consumer platform.consumer,
  change platform.change,
  event jsonb,
  failure text,
  is_over boolean,
  held interval
) returns bigint
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  insert into platform.task (kind, name, key, payload, attempts, failure, failed_at, due_at, started_at, holder)
  values (
    case when consumer.run is null then 'delivery' else 'event' end,
    consumer.name,
    change.record,
    jsonb_build_object('event', event, 'depth', change.depth),
    (failure is not null and not is_over)::integer,
    failure,
    case when is_over then now() end,
    clock_timestamp() + coalesce(held, case when failure is not null then interval '5 seconds' end, '0'),
    case when held is not null then now() end,
    case when held is not null then consumer.holder end
  )
  returning task.id;
$$;

comment on function platform.event_task(platform.consumer, platform.change, jsonb, text, boolean, interval) is 'Makes a task of an event that its subscriber could not be told.';
