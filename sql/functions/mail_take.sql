-- The next mail that is due, none if id is null. Its row stays locked until the transaction of the caller ends: that is how long
-- no other server sends it. attempts counts those before; is_late tells that the mail is of no use any more.
create or replace function platform.mail_take(
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
  -- Those for nobody. Another server may be deleting the same.
  delete from platform.mail
  where mail.id in (
    select nobody.id
    from platform.mail as nobody
    where nobody.recipient is null
      and nobody.sent_at is null
      and nobody.failed_at is null
    for update skip locked
  );

  select mail.id, mail.name, mail.recipient, mail.content, mail.attempts, mail.ends_at < now()
  from platform.mail
  where mail.sent_at is null
    and mail.failed_at is null
    and mail.recipient is not null
    and mail.due_at <= now()
  order by mail.due_at
  limit 1
  for update skip locked
  into id, name, recipient, content, attempts, is_late;
end;
$$;

comment on function platform.mail_take() is 'The next mail that is due, locked until the transaction ends.';
grant execute on function platform.mail_take() to sternpost_server;
