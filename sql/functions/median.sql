-- The aggregate MEDIAN of computed fields: the middle one of some numbers, or the mean of the middle two. Nulls do not count. Postgres'
-- own percentile_cont is a float.
create or replace function platform.median(numbers numeric[]) returns numeric
language sql
immutable
parallel safe
security invoker
as $$
  select platform.quotient(sum(ranked.number), 2)
  from (
    select
      number.value as number,
      row_number() over (order by number.value) as place,
      count(*) over () as count
    from unnest(numbers) as number (value)
    where number.value is not null
  ) as ranked
  cross join lateral (values ((ranked.count + 1) / 2), ((ranked.count + 2) / 2)) as middle (place)
  where ranked.place = middle.place;
$$;

comment on function platform.median(numeric[]) is 'The median of some numbers; null if there are none.';
grant execute on function platform.median(numeric[]) to sternpost_caller, sternpost_code;
