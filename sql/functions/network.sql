-- The network of a number of bits around a client address, if that is one of IPv6: a network of 64 bits. Larger ones count
-- too, since a network of 64 bits is easy to change within the one that a provider gives out. Not granted to any role:
-- only functions beside it use it.
create or replace function platform.network(address text, bits integer) returns cidr
language sql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select case when address like '%:%/64' then pg_catalog.network(set_masklen(address::inet, bits)) end;
$$;

comment on function platform.network(text, integer) is 'The larger network of a client address; null for IPv4.';
