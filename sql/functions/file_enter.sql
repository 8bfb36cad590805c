-- Enters files whose contents are about to be stored. No row holds them until one names them; if none ever does, they
-- are deleted after a day.
create or replace function platform.file_enter(keys text[]) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into platform.file (key) select unnest(keys);
  insert into platform.task (kind, name, key, due_at) select 'file', '', unnest(keys), now() + interval '1 day';
$$;

comment on function platform.file_enter(text[]) is 'Enters files whose contents are about to be stored.';
grant execute on function platform.file_enter(text[]) to sternpost_server;
