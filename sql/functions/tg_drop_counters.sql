-- Drops the counters of a deleted row; its arguments are their names. It does not wait for a transaction that takes a
-- number for the row, which then waits for this one: that transaction fails, since its new row refers to the deleted one.
-- It runs with the rights of its owner, since nobody else has rights on platform.counter.
create or replace function platform.tg_drop_counters() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from platform.counter
  where (counter.sequence, counter.per) in (
    select held.sequence, held.per
    from platform.counter as held
    where held.sequence = any (tg_argv)
      and held.per = old.id
    for update skip locked
  );
  return null;
end;
$$;

comment on function platform.tg_drop_counters() is 'Drops the counters of a deleted row.';
