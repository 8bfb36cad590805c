-- Stops a webhook whose address wants no more, until somebody resumes it. What it is not told waits.
create or replace function platform.events_stop(name text) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.consumer
  set stopped_at = now()
  where consumer.name = events_stop.name
    and consumer.run is null
    and consumer.stopped_at is null;
$$;

comment on function platform.events_stop(text) is 'Stops a webhook whose address wants no more.';
grant execute on function platform.events_stop(text) to sternpost_server;
