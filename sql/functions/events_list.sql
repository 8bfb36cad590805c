-- The events that wait, that failed or that are over, as a JSON array: at most so many, those that were given up first.
-- Those that were told at the first attempt have left no task; with is_all, the latest of them are listed too.
create or replace function platform.events_list(most integer, is_all boolean) returns json
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  with tasks as (
    select
      task.id,
      task.name,
      task.payload->'event' as event,
      task.attempts,
      case
        when task.done_at is not null and task.failure is not null then 'skipped'
        when task.done_at is not null then 'done'
        when task.failed_at is not null then 'dead'
        when task.started_at is not null then 'sending'
        else 'waiting'
      end as state,
      task.due_at,
      task.failure,
      task.asked_at as at
    from platform.task
    where task.kind in ('event', 'delivery')
      and (is_all or task.done_at is null)
    order by
      task.failed_at is not null and task.done_at is null desc,
      task.id desc
    limit most
  ),
  latest as (
    select change
    from platform.change
    where is_all
    order by change.seq desc
    limit most
  ),
  told as (
    select
      consumer.name,
      platform.event_told(consumer, latest.change) as event,
      pg_visible_in_snapshot((latest.change).xid, consumer.seen) as is_read,
      (latest.change).at
    from latest
    join platform.consumer on consumer.events ? (latest.change).model and (latest.change).seq > consumer.begun
  )
  select coalesce(
    json_agg(
      json_build_object(
        'id', listed.id,
        'subscriber', listed.name,
        'event', listed.event,
        'attempts', listed.attempts,
        'state', listed.state,
        'dueAt', listed.due_at,
        'failure', listed.failure
      )
      order by listed.state = 'dead' desc, listed.at desc
    ),
    '[]'
  )
  from (
    select * from tasks
    union all
    select null, told.name, told.event, case when told.is_read then 1 else 0 end, case when told.is_read then 'done' else 'unread' end, null, null, told.at
    from told
    where told.event is not null
      and not exists (
        select
        from platform.task
        where task.kind in ('event', 'delivery')
          and task.name = told.name
          and task.key = told.event #>> '{target,id}'
          and task.payload #>> '{event,id}' = told.event->>'id'
      )
  ) as listed;
$$;

comment on function platform.events_list(integer, boolean) is 'The events that wait, that failed or that are over.';
grant execute on function platform.events_list(integer, boolean) to sternpost_server;
