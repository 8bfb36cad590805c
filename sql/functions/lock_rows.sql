-- Locks rows of a table of app in the order of their ids, for a function whose triggers will come to them: update,
-- no key update or share. It runs with the rights of its owner, since nobody who writes one row needs a right to write
-- those that are computed from it. It answers nothing.
create or replace function platform.lock_rows(table_name text, strength text, ids text[]) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if strength not in ('update', 'no key update', 'share') then
    raise exception 'rows are locked for update, no key update or share, and not for %', strength
      using errcode = 'invalid_parameter_value';
  end if;

  execute format('select from app.%I where id = any ($1) order by id for %s', table_name, strength) using ids;
end;
$$;

comment on function platform.lock_rows(text, text, text[]) is 'Locks rows that triggers will come to.';
grant execute on function platform.lock_rows(text, text, text[]) to sternpost_caller;
