-- How many seconds a client has to wait before another attempt: 0 unless one of the counts has reached its limit.
-- Otherwise it is the time until the oldest failure that fills the limit leaves the span. With an account, it counts
-- failed passwords and new identities of the account and of the client address; without one, refused tokens of the
-- address. The limit of an account does not apply at an address from which it was signed in to lately, so that failures
-- elsewhere do not lock its user out. platform.auth_fail records the failures.
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
  select platform.auth_wait_for(max(filling.failed_at), span)
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
        and not exists (
          select
          from platform.auth_known_address
          where auth_known_address.hash = platform.auth_address_hash(auth_wait.account, auth_wait.address)
            and auth_known_address.signed_in_at > now() - interval '30 days'
        )
      order by auth_failure.failed_at desc
      offset per_account - 1
      limit 1
    )
    union all
    select platform.auth_filled_at(
      address,
      case when account is null then '{token}'::text[] else '{password,identity}' end,
      per_address,
      span
    )
  ) as filling;
$$;

comment on function platform.auth_wait(text, text, integer, integer, integer, interval) is
  'Seconds until the client may try again; 0 if it may now.';
grant execute on function platform.auth_wait(text, text, integer, integer, integer, interval) to sternpost_server;
