-- Passkeys: keys in authenticators (Web Authentication). A server reaches them through functions, and has no grant.

create table platform.auth_passkey (
  id text collate "C" not null,
  identity_id text collate "C" not null,
  name text not null,
  public_key bytea not null,
  is_shared boolean not null,
  counter bigint not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  constraint auth_passkey_pkey primary key (id)
);

create index auth_passkey_identity_id_idx on platform.auth_passkey (identity_id); -- the factors of an identity

comment on table platform.auth_passkey is 'The passkeys of identities.';
comment on column platform.auth_passkey.id is 'The id of the credential, in base64url, as the authenticator chose it.';
comment on column platform.auth_passkey.public_key is 'The public key, in the form of COSE.';
comment on column platform.auth_passkey.is_shared is 'Whether the authenticator may copy it to other devices of its owner.';
comment on column platform.auth_passkey.counter is 'How often the authenticator has signed; 0 if it does not count.';

comment on table platform.auth_return is 'Browsers that came back from a provider, and challenges that a passkey has answered: none may be used twice.';

-- They have other parameters now, or another name.
drop function if exists platform.auth_totp_remove(text, text);
drop function if exists platform.auth_factor_accept(
  text, bytea, text, bigint, bytea, bytea, bytea, interval, text, text, integer, integer, integer, interval
);
