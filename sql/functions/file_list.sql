-- All files by key, a page at a time, with the number of fields that hold each, for comparing them with what is stored.
create or replace function platform.file_list(after text, most integer) returns table (key text, holders integer)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    file.key,
    file.holders
  from platform.file
  where file.key > after
  order by file.key
  limit most;
$$;

comment on function platform.file_list(text, integer) is 'Files by key, a page at a time.';
grant execute on function platform.file_list(text, integer) to sternpost_server;
