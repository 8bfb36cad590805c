-- The latest mails, for the page that shows them to developers. Their contents are sealed, and erased unless they are
-- kept.
create or replace function platform.mail_list(most integer)
returns table (id bigint, name text, recipient text, content bytea, asked_at timestamptz, sent_at timestamptz, failure text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select task.id, task.name, task.key, task.content, task.asked_at, task.done_at, task.failure
  from platform.task
  where task.kind = 'mail'
    and task.key is not null
  order by task.asked_at desc, task.id desc
  limit most;
$$;

comment on function platform.mail_list(integer) is 'The latest mails.';
grant execute on function platform.mail_list(integer) to sternpost_server;
