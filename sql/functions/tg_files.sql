-- Counts the fields that hold each file, in the transaction of the write. A file that loses its last field is thereby
-- queued for deletion. The trigger is on every table with columns of files, whose names are its arguments, and sees
-- cascades like any other write. A file that another row takes over is not copied: it lives as long as one of the two
-- rows.
--
-- It refuses a file that is not stored, or whose contents are already deleted: only custom code can name one. It runs
-- with the rights of its owner, since a role that writes the row does not have rights on platform.file.
create or replace function platform.tg_files() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old jsonb := to_jsonb(old); -- null of an insert
  v_new jsonb := to_jsonb(new); -- null of a delete
  v_unknown text;
begin
  with change as (
    select
      file.value->>'key' as key,
      sum(side.holders) as holders
    from unnest(tg_argv) as field (name)
    cross join lateral (values (v_old->field.name, -1), (v_new->field.name, 1)) as side (value, holders)
    cross join lateral jsonb_array_elements(
      case jsonb_typeof(side.value)
        when 'array' then side.value
        when 'object' then jsonb_build_array(side.value)
        else '[]'
      end
    ) as file
    group by file.value->>'key'
    having sum(side.holders) <> 0
  ),
  changed as (
    update platform.file
    set holders = file.holders + change.holders,
      released_at = case when file.holders + change.holders = 0 then now() end
    from change
    where file.key = change.key
    returning file.key, file.holders
  ),
  queued as (
    insert into platform.task (kind, name, key)
    select 'file', '', changed.key
    from changed
    where changed.holders = 0
  )
  select change.key
  into v_unknown
  from change
  where change.holders > 0
    and change.key not in (select changed.key from changed)
  limit 1;

  if v_unknown is not null then
    raise exception 'there is no stored file with the key %', v_unknown using errcode = 'foreign_key_violation';
  end if;

  return null;
end;
$$;

comment on function platform.tg_files() is 'Keeps count of the fields that hold each file.';
