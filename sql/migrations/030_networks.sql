-- A network of 64 bits is easy to change within the one that a provider gives out, so the larger networks count too.
alter table platform.auth_failure
  add column site cidr generated always as (case when address like '%:%/64' then network(set_masklen(address::inet, 56)) end) stored,
  add column block cidr generated always as (case when address like '%:%/64' then network(set_masklen(address::inet, 48)) end) stored;

create index auth_failure_site_failed_at_idx on platform.auth_failure (site, failed_at) where site is not null;
create index auth_failure_block_failed_at_idx on platform.auth_failure (block, failed_at) where block is not null;

comment on column platform.auth_failure.site is 'The IPv6 network of 56 bits, which a customer of a provider has; null for IPv4.';
comment on column platform.auth_failure.block is 'The IPv6 network of 48 bits; null for IPv4.';
