-- How far to look along the order of a list: how many rows first, how many at the most, and how many values of a caller
-- are enough for that. `own` is the table whose rows the values are, `listed` that of the rows of the list.
--
-- Of the rows in the order, the part that the caller may see is the part of `own` that the values are. If a page is
-- expected within half of the rows that the values have, it is worth a look. They may have fewer than others, so only
-- four of each count.
create or replace function platform.enough(own regclass, listed regclass, first bigint) returns bigint[]
language plpgsql
stable
security invoker
as $$
begin
  return (
    select array[enough.number * least(4, every.rows), enough.number * every.rows, enough.number]
    from pg_class as owned
    join pg_class as rows_of_list on rows_of_list.oid = listed
    cross join lateral (select greatest(1, rows_of_list.reltuples / greatest(1, owned.reltuples))::bigint as rows) as every
    cross join lateral (
      select greatest(100, ceil(sqrt(2.0 * first * greatest(1, owned.reltuples) / least(4, every.rows))))::bigint as number
    ) as enough
    where owned.oid = own
  );
end;
$$;

comment on function platform.enough(regclass, regclass, bigint) is 'How many values of a caller are enough to look along the order.';
grant execute on function platform.enough(regclass, regclass, bigint) to sternpost_caller;
