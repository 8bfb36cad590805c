-- Mails are counted by recipient, and a mail in hand is free again when the server that sends it is gone, as its connection
-- to the database shows.
create index mail_recipient_name_asked_at_idx on platform.mail (recipient, name, asked_at);

alter table platform.mail
  add column holder integer;

comment on column platform.mail.holder is 'The process of the connection by which the server that sends it shows that it is there; null if none does.';

-- They have other parameters now.
drop function if exists platform.auth_account(text, text, text);
drop function if exists platform.mail_take(interval);
