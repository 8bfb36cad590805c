-- Mails are counted by recipient.
create index mail_recipient_name_asked_at_idx on platform.mail (recipient, name, asked_at);

-- It has a parameter less now.
drop function if exists platform.auth_account(text, text, text);
