-- Lets a client upload a file: notes the key and returns when it expires. It refuses a caller that has too many uploads
-- outstanding (not attached, not expired); the detail then says in how many seconds the oldest expires. An anonymous
-- client of IPv6 also counts for its network of 56 bits, with four times the limit, and of 48 bits, with sixteen times.
-- Mints that count together take turns, so that concurrent ones cannot exceed a limit. Whether the caller may call the action has been
-- decided before.
create or replace function platform.file_mint(upload jsonb, most integer, lifetime interval) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_identity_id text := upload->>'identityId';
  v_address text := case when v_identity_id is null then upload->>'address' end;
  v_minter text := coalesce('identity ' || v_identity_id, 'address ' || v_address);
  v_block cidr := platform.network(v_address, 48);
  v_site cidr := platform.network(v_address, 56);
  v_expires_at timestamptz := date_trunc('milliseconds', now() + lifetime);
  v_oldest timestamptz; -- of those that fill a limit
begin
  perform platform.take_turn('minter', coalesce(v_block::text, v_minter));

  select max(filling.oldest)
  into v_oldest
  from (
    (
      select min(file_upload.expires_at) as oldest
      from platform.file_upload
      where file_upload.minter = v_minter
        and file_upload.attached_at is null
        and file_upload.expires_at > now()
      having count(*) >= most
    )
    union all
    (
      select min(file_upload.expires_at)
      from platform.file_upload
      where file_upload.block = v_block
        and file_upload.site = v_site
        and file_upload.attached_at is null
        and file_upload.expires_at > now()
      having count(*) >= 4 * most
    )
    union all
    (
      select min(file_upload.expires_at)
      from platform.file_upload
      where file_upload.block = v_block
        and file_upload.attached_at is null
        and file_upload.expires_at > now()
      having count(*) >= 16 * most
    )
  ) as filling;

  if v_oldest is not null then
    raise exception 'too many uploads outstanding' using
      errcode = 'SP429',
      -- By the clock: a transaction that waited for its turn began before the oldest was noted.
      detail = json_build_object('retryAfter', greatest(ceil(extract(epoch from v_oldest - clock_timestamp())), 1));
  end if;

  insert into platform.file_upload (key, action, field, identity_id, minter, filename, content_type, size, expires_at)
  values (
    upload->>'key',
    upload->>'action',
    upload->>'field',
    v_identity_id,
    v_minter,
    upload->>'filename',
    upload->>'contentType',
    (upload->>'size')::bigint,
    v_expires_at
  );
  insert into platform.task (kind, name, key, due_at)
  values ('upload', '', upload->>'key', v_expires_at + interval '1 hour');

  return platform.iso(v_expires_at);
end;
$$;

comment on function platform.file_mint(jsonb, integer, interval) is 'Lets a client upload a file; returns when its key expires.';
grant execute on function platform.file_mint(jsonb, integer, interval) to sternpost_server;
