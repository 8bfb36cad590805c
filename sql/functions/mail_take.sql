-- The next mail that is due; id is null if there is none. The mail is leased to the server that takes it: no other
-- server takes it until the lease expires, or until holder is gone: the process of a connection that the server keeps.
-- Then the first server ended before it could note the result.
-- attempts counts the earlier ones; is_late tells that the mail is not useful any more.
create or replace function platform.mail_take(
  lease interval,
  holder integer,
  out id bigint,
  out name text,
  out recipient text,
  out content bytea,
  out attempts integer,
  out is_late boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- Mails without recipient. Another server may be deleting the same.
  delete from platform.mail
  where mail.id in (
    select nobody.id
    from platform.mail as nobody
    where nobody.recipient is null
      and nobody.sent_at is null
      and nobody.failed_at is null
    for update skip locked
  );

  update platform.mail
  set
    due_at = clock_timestamp() + mail_take.lease,
    holder = mail_take.holder
  where mail.id = (
    select due.id
    from platform.mail as due
    where due.sent_at is null
      and due.failed_at is null
      and due.recipient is not null
      and (due.due_at <= now() or due.holder <> all (array(select pg_stat_activity.pid from pg_stat_activity)))
    order by due.due_at
    limit 1
    for update skip locked
  )
  returning mail.id, mail.name, mail.recipient, mail.content, mail.attempts, mail.ends_at < now()
  into id, name, recipient, content, attempts, is_late;
end;
$$;

comment on function platform.mail_take(interval, integer) is 'The next mail that is due, leased to the server that takes it.';
grant execute on function platform.mail_take(interval, integer) to sternpost_server;
