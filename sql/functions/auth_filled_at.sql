-- When the oldest failure was counted that fills a limit at a client address; null if none is filled. Only failures of
-- some kinds within the span count. An address of IPv6 also counts for its network of 56 bits, with four times the limit,
-- and of 48 bits, with sixteen times. Not granted to any role: only functions beside it use it.
create or replace function platform.auth_filled_at(address text, kinds text[], per_address integer, span interval) returns timestamptz
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select max(filling.failed_at)
  from (
    (
      select auth_failure.failed_at
      from platform.auth_failure
      where auth_failure.address = auth_filled_at.address
        and auth_failure.kind = any (kinds)
        and auth_failure.failed_at > now() - span
      order by auth_failure.failed_at desc
      offset per_address - 1
      limit 1
    )
    union all
    (
      select auth_failure.failed_at
      from platform.auth_failure
      where auth_failure.site = platform.network(auth_filled_at.address, 56)
        and auth_failure.kind = any (kinds)
        and auth_failure.failed_at > now() - span
      order by auth_failure.failed_at desc
      offset 4 * per_address - 1
      limit 1
    )
    union all
    (
      select auth_failure.failed_at
      from platform.auth_failure
      where auth_failure.block = platform.network(auth_filled_at.address, 48)
        and auth_failure.kind = any (kinds)
        and auth_failure.failed_at > now() - span
      order by auth_failure.failed_at desc
      offset 16 * per_address - 1
      limit 1
    )
  ) as filling;
$$;

comment on function platform.auth_filled_at(text, text[], integer, interval) is 'When the oldest failure was counted that fills the limit of an address.';
