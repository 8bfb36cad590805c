-- A network of 64 bits is easy to change within the one that a provider gives out, so kept answers count for the larger ones too.
alter table platform.answer
  add column site cidr generated always as (case when caller like 'address %:%/64' then network(set_masklen(substr(caller, 9)::inet, 56)) end) stored,
  add column block cidr generated always as (case when caller like 'address %:%/64' then network(set_masklen(substr(caller, 9)::inet, 48)) end) stored;

create index answer_block_idx on platform.answer (block) where block is not null; -- platform.answer_claim

comment on column platform.answer.site is 'The IPv6 network of 56 bits of an anonymous client, which a customer of a provider has; null for others.';
comment on column platform.answer.block is 'The IPv6 network of 48 bits; null for others.';
