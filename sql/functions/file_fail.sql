-- Counts what was stored for a call that failed.
create or replace function platform.file_fail(caller text, bytes bigint) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into platform.file_failure as known (caller, bytes) values (file_fail.caller, file_fail.bytes)
  on conflict (caller) do update
    set bytes = case when known.since > now() - interval '1 hour' then known.bytes else 0 end + excluded.bytes,
        since = case when known.since > now() - interval '1 hour' then known.since else now() end;
$$;

comment on function platform.file_fail(text, bigint) is 'Counts the bytes that a failed call has stored.';
grant execute on function platform.file_fail(text, bigint) to sternpost_server;
