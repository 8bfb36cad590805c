-- Queues files for deletion that were stored for a call that failed. If the outcome of a call is unknown, it may have
-- succeeded, so files that a row holds stay.
create or replace function platform.file_discard(keys text[]) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  with released as (
    update platform.file
    set released_at = now()
    where file.key = any (keys)
      and file.holders = 0
      and file.released_at is null
    returning file.key
  )
  insert into platform.task (kind, name, key)
  select 'file', '', released.key
  from released;
$$;

comment on function platform.file_discard(text[]) is 'Queues the files of a failed call for deletion.';
grant execute on function platform.file_discard(text[]) to sternpost_server;
