-- Whoever has added a passkey must not stay signed in when the owner of the mailbox sets a new password.
alter table platform.auth_passkey
  add column is_alone boolean not null default true;

comment on column platform.auth_passkey.is_alone is 'Whether it signs in without a password: not after a reset of that, until it is shown behind the new one.';
