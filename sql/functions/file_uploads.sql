-- The uploads of a call that it may attach: not used, not expired, and minted for this action and field, and by this
-- caller if an identity minted them. It takes the uploads as objects of key and field, and leaves out the others. It
-- locks nothing: platform.file_attach decides.
create or replace function platform.file_uploads(uploads jsonb, action text, identity_id text)
returns table (key text, filename text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    file_upload.key,
    file_upload.filename
  from jsonb_to_recordset(uploads) as named (key text, field text)
  join platform.file_upload on file_upload.key = named.key
  where file_upload.action = file_uploads.action
    and file_upload.field = named.field
    and (file_upload.identity_id is null or file_upload.identity_id = file_uploads.identity_id)
    and file_upload.attached_at is null
    and file_upload.expires_at > now();
$$;

comment on function platform.file_uploads(jsonb, text, text) is 'The named uploads that a call may attach.';
grant execute on function platform.file_uploads(jsonb, text, text) to sternpost_server;
