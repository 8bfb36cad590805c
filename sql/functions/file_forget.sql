-- Removes files whose contents are deleted, which platform.file_due has locked.
create or replace function platform.file_forget(keys text[]) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from platform.file where file.key = any (keys) and file.holders = 0;
$$;

comment on function platform.file_forget(text[]) is 'Removes files whose contents are deleted.';
grant execute on function platform.file_forget(text[]) to sternpost_server;
