-- Accounts: the tokens that prove an e-mail address, the mails that carry them, and keys for machines. A server reaches
-- these tables through functions, and has no grant on any of them.

-- Proofs --------------------------------------------------------------------------------------------------------------

-- A token that was sent to an e-mail address. A request for one leaves a row even if no identity has the address, so
-- that it takes the same work.
create table platform.auth_proof (
  hash bytea not null,
  purpose text not null,
  identity_id text collate "C",
  email text not null,
  new_email text,
  notice bytea,
  ends_at timestamptz not null,
  constraint auth_proof_pkey primary key (hash),
  constraint auth_proof_hash_check check (octet_length(hash) = 32),
  constraint auth_proof_purpose_check check (purpose in ('resetPassword', 'verifyEmail', 'changeEmail')),
  constraint auth_proof_new_email_check check ((new_email is null) = (purpose <> 'changeEmail')),
  constraint auth_proof_notice_check check ((notice is null) = (purpose <> 'changeEmail'))
);

create index auth_proof_identity_id_idx on platform.auth_proof (identity_id); -- to void those of an identity
create index auth_proof_ends_at_idx on platform.auth_proof (ends_at); -- to sweep

comment on table platform.auth_proof is 'Tokens that were sent to e-mail addresses, by their SHA-256. One that is used is deleted.';
comment on column platform.auth_proof.identity_id is 'Null if nobody has the address: then the token was not sent, and proves nothing.';
comment on column platform.auth_proof.email is 'The address of the identity when the token was asked for: it proves nothing once that is another.';
comment on column platform.auth_proof.new_email is 'The address that the identity is to have, to which the token was sent.';
comment on column platform.auth_proof.notice is 'The mail that tells the old address, sealed by the server.';

-- Codes of an identity that has signed out everywhere are deleted.
create index auth_code_identity_id_idx on platform.auth_code (identity_id) where family_id is null;

-- Mails ---------------------------------------------------------------------------------------------------------------

-- Any server sends a mail, once the transaction that asked for it has committed. The server keeps the row locked while
-- it sends. If it ends before it notes the result, the lock ends with its connection, and another server sends the mail
-- again.
create table platform.mail (
  id bigint generated always as identity,
  name text not null,
  recipient text,
  content bytea,
  asked_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  ends_at timestamptz not null,
  attempts integer not null default 0,
  sent_at timestamptz,
  failed_at timestamptz,
  failure text,
  constraint mail_pkey primary key (id),
  constraint mail_content_check check (content is not null or sent_at is not null or failed_at is not null)
);

create index mail_due_at_idx on platform.mail (due_at) where sent_at is null and failed_at is null; -- to find the next one
create index mail_asked_at_idx on platform.mail (asked_at); -- to list the latest, and to sweep

comment on table platform.mail is 'Mails that wait to be sent, and for a day what became of them.';
comment on column platform.mail.name is 'What it is about, as the templates are named.';
comment on column platform.mail.recipient is 'Null if nobody has the address that was named: such a mail is deleted instead of sent.';
comment on column platform.mail.content is 'Subject and text, sealed by the server; null once it is sent, unless the server keeps it for its developers.';
comment on column platform.mail.ends_at is 'After which it is of no use.';
comment on column platform.mail.failure is 'Why the latest attempt failed.';

-- Keys ----------------------------------------------------------------------------------------------------------------

create table platform.auth_key (
  id text collate "C" not null,
  identity_id text collate "C" not null,
  hash bytea not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz not null,
  revoked_at timestamptz,
  constraint auth_key_pkey primary key (id),
  constraint auth_key_hash_key unique (hash),
  constraint auth_key_hash_check check (octet_length(hash) = 32)
);

create index auth_key_identity_id_idx on platform.auth_key (identity_id); -- to delete those of an identity that is gone

comment on table platform.auth_key is 'Keys by which machines call with the rights of an identity, by their SHA-256.';

-- They have more parameters now, or a larger result.
drop function if exists platform.auth_password(text, text, text, integer, integer, integer, integer, interval);
drop function if exists platform.auth_password_create(
  text, text, text, bytea, bytea, interval, text, integer, integer, integer, interval
);
