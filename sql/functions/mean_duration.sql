-- The mean of Durations, from the sums of their parts, exact to the microsecond. A fraction of a month counts 30 days a
-- month, and a fraction of a day 24 hours a day, as in comparisons. Postgres' own avg fails if the sum is not an
-- interval. Null if there are none.
create or replace function platform.mean_duration(months numeric, days numeric, seconds numeric, count bigint) returns interval
language sql
immutable
parallel safe
security invoker
as $$
  select
    make_interval(months => div(months, count)::integer, days => div(in_days.sum, count)::integer)
    + (round(platform.quotient(seconds + 86400 * mod(in_days.sum, count), count), 6) || ' seconds')::interval
  from (values (days + 30 * mod(months, count))) as in_days (sum);
$$;

comment on function platform.mean_duration(numeric, numeric, numeric, bigint) is 'The mean of some Durations; null if there are none.';
grant execute on function platform.mean_duration(numeric, numeric, numeric, bigint) to sternpost_caller;
