-- Providers through which an identity signs in beside its own way.
create table platform.auth_link (
  issuer text not null,
  external_id text not null,
  identity_id text collate "C" not null,
  provider text not null,
  created_at timestamptz not null default now(),
  constraint auth_link_pkey primary key (issuer, external_id),
  constraint auth_link_identity_id_provider_key unique (identity_id, provider) -- to list and delete those of an identity
);

comment on table platform.auth_link is 'Subjects of providers that sign in to an identity which is not their own.';
comment on column platform.auth_link.issuer is 'Of the ID tokens, without a slash at its end.';
comment on column platform.auth_link.provider is 'Its name in the configuration.';
