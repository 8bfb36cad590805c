-- Files that no row has held for as long as the delay, and files that were entered a day ago and never held. They stay
-- locked until the transaction ends: a server deletes their contents and then calls platform.file_forget. It skips
-- files that another server is deleting. A write that would hold one of them waits, and then finds it gone.
create or replace function platform.file_due(delay interval, most integer) returns setof text
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select file.key
  from platform.file
  where file.holders = 0
    and coalesce(file.released_at, file.created_at) <= now() - least(delay, interval '1 day')
    and (file.released_at <= now() - delay or file.released_at is null and file.created_at <= now() - interval '1 day')
  order by coalesce(file.released_at, file.created_at)
  limit most
  for update skip locked;
$$;

comment on function platform.file_due(interval, integer) is 'Files whose contents are to be deleted, locked.';
grant execute on function platform.file_due(interval, integer) to sternpost_server;
