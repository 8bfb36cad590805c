-- Whether the contents of a file are to be deleted, for a task of kind 'file': no row has held it for as long as the
-- delay, or a day since it was entered if none ever did. It then stays locked until the transaction ends: a server
-- deletes its contents and calls platform.file_forget. A write that would hold it waits, and then finds it gone.
--
-- wait is how long the task has to wait yet. Both are null if there is nothing to delete: the file is gone, or is held.
create or replace function platform.file_due(key text, delay interval, out is_due boolean, out wait interval)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    left_over.until <= now(),
    greatest(left_over.until - now(), interval '0')
  from (
    select coalesce(file.released_at + delay, file.created_at + interval '1 day') as until
    from platform.file
    where file.key = file_due.key
      and file.holders = 0
    for update
  ) as left_over;
$$;

comment on function platform.file_due(text, interval) is 'Whether the contents of a file are to be deleted; then it is locked.';
grant execute on function platform.file_due(text, interval) to sternpost_server;
