-- Uploads whose bytes a server has to delete: once they are attached, or an hour after they have expired, since a client may use
-- the address again until then. They stay locked until the transaction ends, like the files of platform.file_due.
create or replace function platform.file_uploads_due(most integer) returns setof text
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select file_upload.key
  from platform.file_upload
  where file_upload.expires_at <= now() - interval '1 hour'
    or file_upload.attached_at <= now() and file_upload.cleared_at is null
  limit most
  for update skip locked;
$$;

comment on function platform.file_uploads_due(integer) is 'Uploads whose contents are to be deleted, locked.';
grant execute on function platform.file_uploads_due(integer) to sternpost_server;
