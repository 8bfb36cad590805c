-- Failures are counted by kind, so that refused tokens, which anybody can make up by the thousand, do not keep a user
-- from signing in by password. All attempts with a password are counted too, since each takes the time of a hash.

alter table platform.auth_failure
  add column kind text not null default 'password',
  add constraint auth_failure_kind_check check (kind in ('password', 'token', 'identity'));
alter table platform.auth_failure
  alter column kind drop default,
  alter column failed_at set default clock_timestamp();

comment on column platform.auth_failure.kind is
  'password: a wrong one; token: a refresh token, code or ID token that was refused; identity: one that was created.';

create table platform.auth_try (
  id bigint generated always as identity,
  account text not null,
  address text not null,
  tried_at timestamptz not null default clock_timestamp(),
  constraint auth_try_pkey primary key (id)
);

create index auth_try_account_address_tried_at_idx on platform.auth_try (account, address, tried_at); -- to count
create index auth_try_tried_at_idx on platform.auth_try (tried_at); -- to sweep

comment on table platform.auth_try is 'Passwords that were tried in the last minutes, right ones too, to be counted.';
comment on column platform.auth_try.account is 'The e-mail address that was tried.';
comment on column platform.auth_try.address is 'Of the client; an IPv6 network of 64 bits counts as one.';

-- Addresses from which an identity has signed in by password: failures of others do not lock it out there.
create table platform.auth_known_address (
  hash bytea not null,
  identity_id text collate "C" not null,
  signed_in_at timestamptz not null,
  constraint auth_known_address_pkey primary key (hash),
  constraint auth_known_address_hash_check check (octet_length(hash) = 32)
);

create index auth_known_address_identity_id_idx on platform.auth_known_address (identity_id); -- to keep a few of each, and to forget them
create index auth_known_address_signed_in_at_idx on platform.auth_known_address (signed_in_at); -- to sweep

comment on table platform.auth_known_address is 'From which client addresses accounts were signed in to within thirty days, a few of each.';
comment on column platform.auth_known_address.hash is 'SHA-256 of client address and account: enough to know them again.';

-- It has more parameters now.
drop function if exists platform.auth_password(text, text, text, integer, integer, integer, interval);
