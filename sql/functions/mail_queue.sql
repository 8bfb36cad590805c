-- Keeps a mail until it is sent. Without a recipient the mail is kept and swept, so that a client cannot tell the two
-- cases by the time. Not granted to any role: only functions beside it use it.
create or replace function platform.mail_queue(name text, recipient text, content bytea, lifetime interval) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  insert into platform.task (kind, name, key, content, ends_at, failed_at)
  values ('mail', mail_queue.name, recipient, mail_queue.content, now() + lifetime, case when recipient is null then now() end);
$$;

comment on function platform.mail_queue(text, text, bytea, interval) is 'Keeps a mail until it is sent.';
