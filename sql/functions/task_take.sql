-- The next tasks of a kind that are due, as a JSON array; with a name only those of that name. They are leased to the
-- server that takes them: no other server takes them until the lease expires, or until holder is gone: the process of a
-- connection that the server keeps. Then the first server ended before it could note the result.
--
-- An event waits until the earlier events of its record and subscriber are done, and while its webhook is stopped. Runs
-- of a job with equal inputs follow each other: takers of a job take turns, so that each sees what the other took. So do
-- takers of mails: sent is how many that code sends its recipient has got within a day, or is about to get.
create or replace function platform.task_take(kind text, name text, lease interval, holder integer, most integer) returns json
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tasks json;
begin
  if kind in ('job', 'mail') then
    perform platform.take_turn(kind, coalesce(name, ''));
  end if;

  with taken as (
    update platform.task
    set
      due_at = clock_timestamp() + task_take.lease,
      holder = task_take.holder,
      started_at = clock_timestamp()
    where task.id in (
      select due.id
      from platform.task as due
      where due.kind = task_take.kind
        and due.name = coalesce(task_take.name, due.name)
        and due.done_at is null
        and due.failed_at is null
        and (due.due_at <= now() or due.holder <> all (array(select pg_stat_activity.pid from pg_stat_activity)))
        and case
          when due.kind = 'mail' then due.key is not null
          when due.kind in ('event', 'delivery') then not exists (
            select
            from platform.task as earlier
            where earlier.kind = due.kind
              and earlier.name = due.name
              and earlier.key = due.key
              and earlier.id < due.id
              and earlier.done_at is null
          )
          and not exists (select from platform.consumer where consumer.name = due.name and consumer.stopped_at is not null)
          when due.kind = 'job' then not exists (
            select
            from platform.task as other
            where other.kind = 'job'
              and other.name = due.name
              and other.payload->'inputs' = due.payload->'inputs'
              and other.id <> due.id
              and other.done_at is null
              and other.failed_at is null
              and (other.id < due.id or other.started_at is not null)
          )
          else true
        end
      order by due.due_at
      limit most
      for update skip locked
    )
    returning task.*
  )
  select json_agg(
    json_build_object(
      'id', taken.id,
      'name', taken.name,
      'key', taken.key,
      'content', encode(taken.content, 'base64'),
      'payload', taken.payload,
      'attempts', taken.attempts,
      'isLate', coalesce(taken.ends_at < now(), false),
      'sent', case when taken.kind = 'mail' then (
        select count(*)
        from platform.task as other
        join platform.mail_template on mail_template.name = other.name
        where other.kind = 'mail'
          and other.key = taken.key
          and (
            other.done_at > now() - interval '1 day'
            or (other.due_at > now() and other.started_at is not null and other.done_at is null and other.failed_at is null)
          )
          and other.id <> taken.id
      ) end
    )
    order by taken.id
  )
  into v_tasks
  from taken;

  return coalesce(v_tasks, '[]');
end;
$$;

comment on function platform.task_take(text, text, interval, integer, integer) is 'The next tasks of a kind that are due, leased to the server that takes them.';
grant execute on function platform.task_take(text, text, interval, integer, integer) to sternpost_server;
