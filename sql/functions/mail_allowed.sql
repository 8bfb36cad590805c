-- Whether a recipient may get another mail of a kind: three are asked for within an hour. Whoever asks for more gets the
-- same answer and no mail. Not granted to any role: only functions beside it use it.
create or replace function platform.mail_allowed(name text, recipient text) returns boolean
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select count(*) < 3
  from platform.task
  where task.kind = 'mail'
    and task.name = mail_allowed.name
    and task.key = mail_allowed.recipient
    and task.asked_at > now() - interval '1 hour';
$$;

comment on function platform.mail_allowed(text, text) is 'Whether a recipient may get another mail of a kind.';
