-- All uploads by key, a page at a time, for comparing them with the stored bytes.
create or replace function platform.file_uploads_list(after text, most integer) returns setof text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select file_upload.key
  from platform.file_upload
  where file_upload.key > after
  order by file_upload.key
  limit most;
$$;

comment on function platform.file_uploads_list(text, integer) is 'Uploads by key, a page at a time.';
grant execute on function platform.file_uploads_list(text, integer) to sternpost_server;
