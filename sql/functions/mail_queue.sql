-- Keeps a mail until it is sent. Without a recipient the mail is kept and deleted, so that a client cannot tell the two
-- cases by the time. Not granted to any role: only functions beside it use it.
create or replace function platform.mail_queue(name text, recipient text, content bytea, lifetime interval) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  insert into platform.mail (name, recipient, content, ends_at)
  values (mail_queue.name, mail_queue.recipient, mail_queue.content, now() + lifetime);
$$;

comment on function platform.mail_queue(text, text, bytea, interval) is 'Keeps a mail until it is sent.';
