-- Removes files whose contents are deleted, which platform.file_due or platform.file_unheld has locked, and the tasks of
-- their deletion.
create or replace function platform.file_forget(keys text[]) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from platform.file where file.key = any (keys) and file.holders = 0;
  delete from platform.task where task.kind = 'file' and task.name = '' and task.key = any (keys);
$$;

comment on function platform.file_forget(text[]) is 'Removes files whose contents are deleted.';
grant execute on function platform.file_forget(text[]) to sternpost_server;
