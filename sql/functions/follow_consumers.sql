-- Makes platform.consumer the subscribers of a release. A new one begins with what is written from now on. Not granted to
-- any role: only the installation of a release uses it.
create or replace function platform.follow_consumers(manifest json) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from platform.consumer
  where consumer.name not in (
    select named->>'name' from json_array_elements(coalesce(manifest->'subscribers', '[]')) as named
  );

  insert into platform.consumer (name, run, events, seen, fence, floor, cluster, begun)
  select
    named->>'name',
    named->>'run',
    (named->'events')::jsonb,
    pg_current_snapshot(),
    pg_current_xact_id(),
    0,
    platform.cluster(),
    (select case when change_seq.is_called then change_seq.last_value else 0 end from platform.change_seq)
  from json_array_elements(coalesce(manifest->'subscribers', '[]')) as named
  on conflict on constraint consumer_pkey do update
    set run = excluded.run,
        events = excluded.events;

  -- Code may have become a webhook, or the reverse.
  update platform.task
  set kind = case when consumer.run is null then 'delivery' else 'event' end
  from platform.consumer
  where task.kind in ('event', 'delivery')
    and task.name = consumer.name
    and task.done_at is null
    and (task.kind = 'event') = (consumer.run is null);
end;
$$;

comment on function platform.follow_consumers(json) is 'Makes platform.consumer the subscribers of a release.';
