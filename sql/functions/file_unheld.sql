-- Those of the files of a call that failed which nobody holds. They stay locked until the transaction ends: a server deletes their
-- contents and then calls platform.file_forget. A call of which nobody knows how it ended may have succeeded, or may do so yet:
-- what it holds, or is about to, is skipped.
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

comment on function platform.file_unheld(text[]) is 'Those of the files of a call that failed which nobody holds, locked.';
grant execute on function platform.file_unheld(text[]) to sternpost_server;
