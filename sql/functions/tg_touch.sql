-- Keeps updated_at, for rows that change. Its triggers have conditions on tables with computed columns only: Postgres
-- reads a condition anew for each statement, which costs more than this comparison. A comparison reads large values into
-- the row that it compares; here that is a copy, since a row with such values would be stored with new ones. It runs with
-- the rights of the role that writes and does not need others, so it is not granted to any role.
create or replace function platform.tg_touch() returns trigger
language plpgsql
volatile
security invoker
as $$
declare
  v_new constant record := new;
begin
  if v_new is distinct from old then
    new.updated_at := now();
  end if;

  return new;
end;
$$;

comment on function platform.tg_touch() is 'Keeps updated_at of rows that change.';
