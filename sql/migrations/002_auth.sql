-- Signing in: the rows that are kept between one request and the next. Secrets that a client holds are kept as SHA-256
-- only, so a reader of these tables cannot use any of them. Identities themselves are rows of app.identity, which is
-- generated and comes later. No foreign key can point there, so each use of an identity_id checks that the identity
-- still exists.
--
-- A server reaches these tables through the functions platform.auth_*, and has no grant on any of them.

-- Refresh tokens ------------------------------------------------------------------------------------------------------

-- One sign-in. Its end is fixed when it begins, and everything that is issued from it later ends with it.
create table platform.auth_family (
  id bigint generated always as identity,
  identity_id text collate "C" not null,
  key bytea not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz not null,
  revoked_at timestamptz,
  constraint auth_family_pkey primary key (id),
  constraint auth_family_key_check check (octet_length(key) = 32)
);

create index auth_family_identity_id_idx on platform.auth_family (identity_id); -- to revoke what an identity holds
create index auth_family_ends_at_idx on platform.auth_family (ends_at); -- to sweep
create index auth_family_revoked_at_idx on platform.auth_family (revoked_at) where revoked_at is not null; -- likewise

comment on table platform.auth_family is 'One sign-in, and the refresh tokens that follow from it.';
comment on column platform.auth_family.key is 'Makes each token of the family from the one before: HMAC-SHA-256 under this key.';
comment on column platform.auth_family.ends_at is 'Fixed at sign-in: rotation does not extend it.';

create table platform.auth_refresh_token (
  hash bytea not null,
  family_id bigint not null,
  position integer not null,
  superseded_at timestamptz,
  constraint auth_refresh_token_pkey primary key (hash),
  constraint auth_refresh_token_family_id_position_key unique (family_id, position), -- to find a family's newest
  constraint auth_refresh_token_family_id_fkey foreign key (family_id) references platform.auth_family on delete cascade,
  constraint auth_refresh_token_hash_check check (octet_length(hash) = 32)
);

comment on table platform.auth_refresh_token is 'Refresh tokens by their SHA-256, superseded ones included: seeing one of those again reveals a theft.';
comment on column platform.auth_refresh_token.position is 'How many tokens of the family came before.';
comment on column platform.auth_refresh_token.superseded_at is 'Null for the newest of its family.';

-- Sign-in by redirect -------------------------------------------------------------------------------------------------

-- A browser that was sent to a provider and has not come back yet.
create table platform.auth_transaction (
  hash bytea not null,
  provider text not null,
  target text not null,
  is_dynamic boolean not null,
  state text,
  challenge text,
  challenge_method text,
  nonce text not null,
  verifier text not null,
  cookie_hash bytea not null,
  expires_at timestamptz not null,
  constraint auth_transaction_pkey primary key (hash),
  constraint auth_transaction_hash_check check (octet_length(hash) = 32),
  constraint auth_transaction_challenge_method_check check (challenge_method in ('S256', 'plain')),
  constraint auth_transaction_challenge_check check ((challenge is null) = (challenge_method is null)),
  constraint auth_transaction_cookie_hash_check check (octet_length(cookie_hash) = 32)
);

create index auth_transaction_expires_at_idx on platform.auth_transaction (expires_at); -- to sweep

comment on table platform.auth_transaction is 'Sign-ins on their way through a provider. Being looked up deletes the row.';
comment on column platform.auth_transaction.hash is 'SHA-256 of the state that the provider is to send back.';
comment on column platform.auth_transaction.provider is 'Its name in the configuration.';
comment on column platform.auth_transaction.target is 'Where the browser goes in the end.';
comment on column platform.auth_transaction.is_dynamic is 'Whether the client named the target.';
comment on column platform.auth_transaction.state is 'What the client sent, to be handed back.';
comment on column platform.auth_transaction.challenge is 'Of the client; null if it sent none.';
comment on column platform.auth_transaction.nonce is 'What the ID token must carry.';
comment on column platform.auth_transaction.verifier is 'Our own PKCE verifier towards the provider.';
comment on column platform.auth_transaction.cookie_hash is 'SHA-256 of the cookie of the browser.';

-- A code for grant authorization_code. Its first presentation sets consumed_at, whether or not it succeeds. A later one
-- sets replayed_at and revokes the family; without that mark, a family begun a moment after the replay would escape.
create table platform.auth_code (
  hash bytea not null,
  identity_id text collate "C" not null,
  is_identity_new boolean not null,
  target text not null,
  is_dynamic boolean not null,
  challenge text,
  challenge_method text,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  replayed_at timestamptz,
  family_id bigint,
  constraint auth_code_pkey primary key (hash),
  constraint auth_code_family_id_fkey foreign key (family_id) references platform.auth_family on delete cascade,
  constraint auth_code_hash_check check (octet_length(hash) = 32),
  constraint auth_code_challenge_method_check check (challenge_method in ('S256', 'plain')),
  constraint auth_code_challenge_check check ((challenge is null) = (challenge_method is null))
);

create index auth_code_family_id_idx on platform.auth_code (family_id); -- for the cascade
create index auth_code_expires_at_idx on platform.auth_code (expires_at) where family_id is null; -- to sweep

comment on table platform.auth_code is 'Codes by their SHA-256; consumed ones stay as long as the family that they began.';
comment on column platform.auth_code.is_identity_new is 'Whether the sign-in behind the code created the identity.';
comment on column platform.auth_code.target is 'Where the code was sent.';
comment on column platform.auth_code.is_dynamic is 'Whether the client named the target, and so has to name it again.';
comment on column platform.auth_code.family_id is 'What was issued for it; null while nothing is.';

-- Throttle ------------------------------------------------------------------------------------------------------------

-- One row for each failed grant, and for each identity that was created. No more are written than the limits allow.
create table platform.auth_failure (
  id bigint generated always as identity,
  account text,
  address text not null,
  is_cleared boolean not null default false,
  failed_at timestamptz not null default now(),
  constraint auth_failure_pkey primary key (id)
);

create index auth_failure_account_failed_at_idx on platform.auth_failure (account, failed_at); -- to count by account, and by both
create index auth_failure_address_failed_at_idx on platform.auth_failure (address, failed_at); -- to count by client address
create index auth_failure_failed_at_idx on platform.auth_failure (failed_at); -- to sweep

comment on table platform.auth_failure is 'Failed sign-ins and new identities of the last minutes, to be counted.';
comment on column platform.auth_failure.account is 'The e-mail address that was tried; null if the grant has none.';
comment on column platform.auth_failure.address is 'Of the client; an IPv6 network of 64 bits counts as one.';
comment on column platform.auth_failure.is_cleared is 'Whether the count of this account at this address leaves it out: a sign-in succeeded since.';
