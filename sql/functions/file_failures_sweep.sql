-- Deletes counts whose hour has ended, at most so many at a time, and returns how many it were.
create or replace function platform.file_failures_sweep(most integer) returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from platform.file_failure
  where file_failure.caller in (
    select ended.caller
    from platform.file_failure as ended
    where ended.since <= now() - interval '1 hour'
    limit most
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

comment on function platform.file_failures_sweep(integer) is 'Deletes counts of failed calls whose hour has ended.';
grant execute on function platform.file_failures_sweep(integer) to sternpost_server;
