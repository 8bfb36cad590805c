-- Second factors: an app that shows codes, and codes for the day when it is lost. A server reaches these tables through
-- functions, and has no grant on any of them.

create table platform.auth_totp (
  identity_id text collate "C" not null,
  secret text,
  step bigint not null default 0,
  confirmed_at timestamptz,
  used_at timestamptz,
  proposed text,
  proposed_at timestamptz,
  constraint auth_totp_pkey primary key (identity_id),
  constraint auth_totp_confirmed_at_check check ((confirmed_at is null) = (secret is null)),
  constraint auth_totp_proposed_at_check check ((proposed_at is null) = (proposed is null))
);

comment on table platform.auth_totp is 'The authenticator apps of identities, one each.';
comment on column platform.auth_totp.secret is 'What the codes are made from, encrypted by the server; null until the first code was right.';
comment on column platform.auth_totp.step is 'The latest step of thirty seconds whose code was used: a code works once.';
comment on column platform.auth_totp.proposed is 'A secret that takes the place of the other once a code of it is right, encrypted by the server.';

create table platform.auth_recovery_code (
  hash bytea not null,
  identity_id text collate "C" not null,
  constraint auth_recovery_code_pkey primary key (identity_id, hash),
  constraint auth_recovery_code_hash_check check (octet_length(hash) = 32)
);

comment on table platform.auth_recovery_code is 'Codes that work once in place of another second factor, by their SHA-256. One that is used is deleted.';

-- A sign-in whose password was right and whose second factor is still to come.
create table platform.auth_pending (
  hash bytea not null,
  identity_id text collate "C" not null,
  tries integer not null default 0,
  ends_at timestamptz not null,
  constraint auth_pending_pkey primary key (hash),
  constraint auth_pending_hash_check check (octet_length(hash) = 32)
);

create index auth_pending_identity_id_idx on platform.auth_pending (identity_id); -- to void those of an identity
create index auth_pending_ends_at_idx on platform.auth_pending (ends_at); -- to sweep

comment on table platform.auth_pending is 'Sign-ins that wait for a second factor, by the SHA-256 of the token for it.';
comment on column platform.auth_pending.tries is 'How many codes were tried with the token.';

alter table platform.auth_family
  add column second_at timestamptz;

comment on column platform.auth_family.second_at is 'When a second factor was shown last; null if none was.';

-- They have other parameters now, or another name.
drop function if exists platform.auth_is_fresh(text, text);
drop function if exists platform.auth_raise(text, text);
drop function if exists platform.auth_start(text, bytea, bytea, interval, bytea, text, text);
drop function if exists platform.auth_password_accept(
  text, text, text, bytea, bytea, interval, text, text, integer, integer, integer, interval, text, text
);
