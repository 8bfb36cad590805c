-- Notes that a mail is sent, and erases its contents unless they are kept for developers.
create or replace function platform.mail_sent(id bigint, is_kept boolean) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.mail
  set
    sent_at = clock_timestamp(),
    attempts = mail.attempts + 1,
    failure = null,
    content = case when is_kept then mail.content end
  where mail.id = mail_sent.id;
$$;

comment on function platform.mail_sent(bigint, boolean) is 'Notes that a mail is sent, and erases its contents.';
grant execute on function platform.mail_sent(bigint, boolean) to sternpost_server;
