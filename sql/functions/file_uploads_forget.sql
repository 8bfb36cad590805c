-- Notes that the bytes of these uploads are deleted, and removes the uploads that cannot be used any more.
create or replace function platform.file_uploads_forget(keys text[]) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.file_upload
  set cleared_at = now()
  where file_upload.key = any (keys)
    and file_upload.expires_at > now() - interval '1 hour';

  delete from platform.file_upload
  where file_upload.key = any (keys)
    and file_upload.expires_at <= now() - interval '1 hour';
$$;

comment on function platform.file_uploads_forget(text[]) is 'Notes that the bytes of these uploads are deleted.';
grant execute on function platform.file_uploads_forget(text[]) to sternpost_server;
