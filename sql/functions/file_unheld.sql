-- The files of a failed call that no row holds. They stay locked until the transaction ends: a server deletes their contents and
-- then calls platform.file_forget. If the outcome of a call is unknown, it may have succeeded, or may succeed yet: files that it
-- holds, or is about to hold, are skipped.
create or replace function platform.file_unheld(keys text[]) returns setof text
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select file.key
  from platform.file
  where file.key = any (keys)
    and file.holders = 0
  for update skip locked;
$$;

comment on function platform.file_unheld(text[]) is 'The files of a failed call that no row holds, locked.';
grant execute on function platform.file_unheld(text[]) to sternpost_server;
