-- Deletes expired answers, up to most, and tells whether some may be left. It skips rows that another transaction is
-- writing.
create or replace function platform.answer_sweep(most integer) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from platform.answer
  where answer.id in (
    select old.id
    from platform.answer as old
    where old.expires_at <= now()
    order by old.expires_at
    limit most
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count = most;
end;
$$;

comment on function platform.answer_sweep(integer) is 'Deletes expired answers.';
grant execute on function platform.answer_sweep(integer) to sternpost_server;
