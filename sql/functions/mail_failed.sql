-- Notes that a mail could not be sent. With a delay it is tried again after that; without one it is given up, and its
-- contents are erased.
create or replace function platform.mail_failed(id bigint, failure text, delay interval) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.mail
  set
    attempts = mail.attempts + 1,
    failure = mail_failed.failure,
    holder = null,
    due_at = coalesce(clock_timestamp() + delay, mail.due_at),
    failed_at = case when delay is null then clock_timestamp() end,
    content = case when delay is not null then mail.content end
  where mail.id = mail_failed.id;
$$;

comment on function platform.mail_failed(bigint, text, interval) is 'Notes that a mail could not be sent, and when it is tried again.';
grant execute on function platform.mail_failed(bigint, text, interval) to sternpost_server;
