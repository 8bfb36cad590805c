-- The mails that code of the newest release may send, by the names of their templates.
create table platform.mail_template (
  name text not null,
  constraint mail_template_pkey primary key (name)
);

create index task_mail_sent_idx on platform.task (key, done_at) where kind = 'mail' and done_at is not null; -- to count what an address has got

comment on table platform.mail_template is 'The mails that code of the newest release may send.';
comment on column platform.task.content is 'Of a mail, null once it is sent, unless the server keeps it for its developers: subject and text of one of accounts, sealed by the server; the data of one that code sends.';
