-- One queue for all that servers do beside calls: mails, deletions of files, deliveries of events, runs of jobs. Any
-- server takes a task and leases it. Servers reach the table through the functions platform.task_*, and have no grant
-- on it.

create table platform.task (
  id bigint generated always as identity,
  kind text not null,
  name text not null,
  key text collate "C",
  content bytea,
  payload jsonb,
  asked_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  ends_at timestamptz,
  attempts integer not null default 0,
  holder integer,
  started_at timestamptz,
  done_at timestamptz,
  failed_at timestamptz,
  failure text,
  result jsonb,
  constraint task_pkey primary key (id),
  constraint task_kind_check check (kind in ('mail', 'file', 'upload', 'event', 'job'))
);

create index task_due_at_idx on platform.task (kind, due_at) where done_at is null and failed_at is null; -- to find the next one
create index task_key_idx on platform.task (kind, name, key, asked_at); -- to count mails, and to find the earlier events of a record
create index task_ended_idx on platform.task ((coalesce(done_at, failed_at))) where done_at is not null or failed_at is not null; -- to sweep
create index task_asked_at_idx on platform.task (kind, asked_at); -- to list the latest

comment on table platform.task is 'What waits to be done by a server, and for a day what became of it.';
comment on column platform.task.name is 'The template of a mail, the subscriber of an event, the job of a run; empty for files and uploads.';
comment on column platform.task.key is 'The recipient of a mail (null if nobody has the address), the key of a file or an upload, the record of an event.';
comment on column platform.task.content is 'Subject and text of a mail, sealed by the server; null once it is sent, unless the server keeps it for its developers.';
comment on column platform.task.due_at is 'When it is to be done; while a server does it, when its lease expires.';
comment on column platform.task.ends_at is 'After which it is of no use.';
comment on column platform.task.holder is 'The process of the connection by which the server that does it shows that it is there; null if none does.';
comment on column platform.task.started_at is 'When a server took it; null while it waits.';
comment on column platform.task.failed_at is 'When it was given up.';
comment on column platform.task.failure is 'Why the latest attempt failed.';

-- What waits, moves.
insert into platform.task (kind, name, key, content, asked_at, due_at, ends_at, attempts, done_at, failed_at, failure)
select 'mail', name, recipient, content, asked_at, due_at, ends_at, attempts, sent_at, failed_at, failure
from platform.mail
order by id;

insert into platform.task (kind, name, key, asked_at, due_at)
select 'file', '', key, coalesce(released_at, created_at), coalesce(released_at, created_at + interval '1 day')
from platform.file
where holders = 0;

insert into platform.task (kind, name, key, asked_at, due_at)
select
  'upload',
  '',
  key,
  minted_at,
  case when attached_at is not null and cleared_at is null then attached_at else expires_at + interval '1 hour' end
from platform.file_upload;

drop function if exists platform.mail_take(interval, integer);
drop function if exists platform.mail_sent(bigint, boolean);
drop function if exists platform.mail_failed(bigint, text, interval);
drop function if exists platform.mail_list(integer);
drop function if exists platform.mail_queue(text, text, bytea, interval);
drop function if exists platform.mail_allowed(text, text);
drop function if exists platform.file_due(interval, integer);
drop function if exists platform.file_uploads_due(integer);
drop table platform.mail;
drop index platform.file_free_idx;
drop index platform.file_upload_expires_at_idx;
drop index platform.file_upload_attached_at_idx;
