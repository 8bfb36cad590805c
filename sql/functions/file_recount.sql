-- Counts the holders of each file again, and returns for how many files the count was wrong. A file without holder is
-- thereby queued for deletion, and a file that a row names is kept. Writes of files wait until the transaction ends.
create or replace function platform.file_recount() returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
begin
  -- A write that has been counted has ended after this, so that the next statement sees its row; any other is counted
  -- later.
  lock table platform.file in share row exclusive mode;

  with counted as (
    insert into platform.file (key, holders, released_at)
    select
      miscounted.key,
      miscounted.named,
      case when miscounted.named = 0 then now() end
    from platform.file_miscounted() as miscounted
    on conflict (key) do update
      set holders = excluded.holders,
          released_at = excluded.released_at
    returning file.key, file.holders
  ),
  queued as (
    insert into platform.task (kind, name, key)
    select 'file', '', counted.key
    from counted
    where counted.holders = 0
  )
  select count(*)
  into v_count
  from counted;
  return v_count;
end;
$$;

comment on function platform.file_recount() is 'Counts the holders of each file again.';
grant execute on function platform.file_recount() to sternpost_server;
