-- Locks a row of a table of app in share mode, for a function that then moves a key to it: the triggers of computed
-- fields lock the row with the key after this one. It runs with the rights of its owner, since a caller who writes the
-- one row does not need a right to write the other. It returns nothing.
create or replace function platform.share_row(table_name text, id text) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('select from app.%I where id = $1 for share', table_name) using id;
end;
$$;

comment on function platform.share_row(text, text) is 'Locks a row to which a key will lead.';
grant execute on function platform.share_row(text, text) to sternpost_caller;
