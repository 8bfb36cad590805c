-- A network of 64 bits is easy to change within the one that a provider gives out, so uploads count for the larger ones too.
alter table platform.file_upload
  add column site cidr generated always as (case when minter like 'address %:%/64' then network(set_masklen(substr(minter, 9)::inet, 56)) end) stored,
  add column block cidr generated always as (case when minter like 'address %:%/64' then network(set_masklen(substr(minter, 9)::inet, 48)) end) stored;

create index file_upload_block_idx on platform.file_upload (block, expires_at) where block is not null and attached_at is null; -- to count

comment on column platform.file_upload.site is 'The IPv6 network of 56 bits of an anonymous client, which a customer of a provider has; null for others.';
comment on column platform.file_upload.block is 'The IPv6 network of 48 bits; null for others.';
