-- How many seconds it takes until a count of a given moment leaves the span; 0 for null. It is never more than the
-- span, although a transaction that began later may have counted already. Not granted to any role: only functions
-- beside it use it.
create or replace function platform.auth_wait_for(counted_at timestamptz, span interval) returns integer
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select case
    when counted_at is null then 0
    else greatest(1, ceil(extract(epoch from least(counted_at, now()) + span - now())))::integer
  end;
$$;

comment on function platform.auth_wait_for(timestamptz, interval) is 'Seconds until a count of a moment leaves the span.';
