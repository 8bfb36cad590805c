-- Deletes positions that every replica in use has passed, up to most, and tells whether some may be left. No server
-- uses a replica that is more than a minute behind. It skips rows that another transaction is writing.
create or replace function platform.position_sweep(most integer) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from platform.position
  where position.identity_id in (
    select old.identity_id
    from platform.position as old
    where old.noted_at <= now() - interval '10 minutes'
    order by old.noted_at
    limit most
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count = most;
end;
$$;

comment on function platform.position_sweep(integer) is 'Deletes positions that every replica in use has passed.';
grant execute on function platform.position_sweep(integer) to sternpost_server;
