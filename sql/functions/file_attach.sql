-- Marks the uploads that a call attaches, as part of its transaction: if the call fails, they are as before. The call
-- fails if another call has attached one of them since the server looked, or if one has expired. The context holds them
-- as objects of key and field, the path of the input.
create or replace function platform.file_attach(context jsonb) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_errors json;
begin
  if not context ? 'uploads' then
    return;
  end if;

  with attached as (
    update platform.file_upload
    set attached_at = now()
    where file_upload.key in (select named.upload->>'key' from jsonb_array_elements(context->'uploads') as named (upload))
      and file_upload.attached_at is null
      and file_upload.expires_at > now()
    returning file_upload.key
  ),
  queued as (
    update platform.task
    set due_at = now()
    from attached
    where task.kind = 'upload'
      and task.name = ''
      and task.key = attached.key
  )
  select
    json_agg(
      json_build_object('field', named.upload->>'field', 'code', 'upload', 'error', 'is not an upload key for this input')
      order by named.place
    )
  into v_errors
  from jsonb_array_elements(context->'uploads') with ordinality as named (upload, place)
  where named.upload->>'key' not in (select attached.key from attached);

  if v_errors is not null then
    raise exception 'one or more errors found validating request object' using
      errcode = 'SP400',
      detail = json_build_object('errors', v_errors);
  end if;
end;
$$;

comment on function platform.file_attach(jsonb) is 'Marks the uploads that a call attaches, or ends the call.';
grant execute on function platform.file_attach(jsonb) to sternpost_caller, sternpost_code;
