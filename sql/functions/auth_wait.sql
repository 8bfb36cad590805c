-- How many seconds a client has to wait before another try: 0 unless one of the three counts has reached its limit. Then it is
-- the time until the oldest failure that fills the limit leaves the span. It looks only; platform.auth_fail counts.
create or replace function platform.auth_wait(
  account text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  span interval
) returns integer
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when max(filling.failed_at) is null then 0
    else greatest(1, ceil(extract(epoch from max(filling.failed_at) + span - now())))::integer
  end
  from (
    (
      select auth_failure.failed_at
      from platform.auth_failure
      where auth_failure.account = auth_wait.account
        and auth_failure.address = auth_wait.address
        and not auth_failure.is_cleared
        and auth_failure.failed_at > now() - span
      order by auth_failure.failed_at desc
      offset per_account_and_address - 1
      limit 1
    )
    union all
    (
      select auth_failure.failed_at
      from platform.auth_failure
      where auth_failure.account = auth_wait.account
        and auth_failure.failed_at > now() - span
      order by auth_failure.failed_at desc
      offset per_account - 1
      limit 1
    )
    union all
    (
      select auth_failure.failed_at
      from platform.auth_failure
      where auth_failure.address = auth_wait.address
        and auth_failure.failed_at > now() - span
      order by auth_failure.failed_at desc
      offset per_address - 1
      limit 1
    )
  ) as filling;
$$;

comment on function platform.auth_wait(text, text, integer, integer, integer, interval) is
  'Seconds until the client may try again; 0 if it may now.';
grant execute on function platform.auth_wait(text, text, integer, integer, integer, interval) to sternpost_server;
