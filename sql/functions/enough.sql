-- How many values of a caller show a page later than the order of the list does, and how many rows of the order to look
-- at then at the most. `own` is the table whose rows the values are, `listed` that of the rows of the list.
--
-- Of the rows in the order, the part that the caller may see is the part of `own` that the values are. If a page is
-- expected within half as many rows as there are values, it is worth a look.
create or replace function platform.enough(own regclass, listed regclass, first bigint) returns bigint[]
language plpgsql
stable
security invoker
as $$
begin
  return (
    select array[near.rows, near.rows * greatest(1, rows_of_list.reltuples / greatest(1, owned.reltuples))::bigint]
    from pg_class as owned
    join pg_class as rows_of_list on rows_of_list.oid = listed
    cross join lateral (select greatest(100, ceil(sqrt(2.0 * first * greatest(1, owned.reltuples))))::bigint) as near (rows)
    where owned.oid = own
  );
end;
$$;

comment on function platform.enough(regclass, regclass, bigint) is 'How many values of a caller are enough to look along the order.';
grant execute on function platform.enough(regclass, regclass, bigint) to sternpost_caller;
