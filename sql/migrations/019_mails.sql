-- Mails are leased to the server that sends them, instead of locked: no transaction stays open while a mail server answers.
drop function if exists platform.mail_take();

comment on column platform.mail.due_at is 'When it is to be sent; while a server sends it, when its lease expires.';
