-- How each subscriber is, as a JSON array: how far it is behind, at most in changes and in seconds, and how many of its
-- events wait or were given up.
create or replace function platform.events_state() returns json
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    json_agg(
      json_build_object(
        'name', consumer.name,
        'isCode', consumer.run is not null,
        'stoppedAt', consumer.stopped_at,
        'changes', greatest(written.last - place.seq, 0),
        'seconds', coalesce(extract(epoch from now() - unread.at), 0),
        'waiting', tasks.waiting,
        'dead', tasks.dead
      )
      order by consumer.name
    ),
    '[]'
  )
  from platform.consumer
  cross join (select case when change_seq.is_called then change_seq.last_value else 0 end as last from platform.change_seq) as written
  cross join lateral (select coalesce(consumer.after, consumer.floor) as seq) as place
  left join lateral (select change.at from platform.change where change.seq > place.seq order by change.seq limit 1) as unread on true
  cross join lateral (
    select
      count(*) filter (where task.failed_at is null) as waiting,
      count(*) filter (where task.failed_at is not null) as dead
    from platform.task
    where task.kind in ('event', 'delivery')
      and task.name = consumer.name
      and task.done_at is null
  ) as tasks;
$$;

comment on function platform.events_state() is 'How each subscriber is: how far behind, and what waits or was given up.';
grant execute on function platform.events_state() to sternpost_server;
