-- Whether a server has to delete the bytes of an upload, for a task of kind 'upload': once it is attached, or an hour
-- after it has expired, since a client may use the address again until then. It then stays locked until the transaction
-- ends, like a file in platform.file_due. wait is how long the task has to wait, also after the bytes of one that is
-- attached are deleted. Both are null if the upload is gone.
create or replace function platform.file_uploads_due(key text, out is_due boolean, out wait interval)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    file_upload.expires_at <= now() - interval '1 hour' or file_upload.attached_at <= now() and file_upload.cleared_at is null,
    greatest(file_upload.expires_at + interval '1 hour' - now(), interval '0')
  from platform.file_upload
  where file_upload.key = file_uploads_due.key
  for update;
$$;

comment on function platform.file_uploads_due(text) is 'Whether the contents of an upload are to be deleted; then it is locked.';
grant execute on function platform.file_uploads_due(text) to sternpost_server;
