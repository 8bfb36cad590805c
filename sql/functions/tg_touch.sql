-- Keeps updated_at. The conditions of its triggers select the rows that change. It runs with the rights of the role
-- that writes and does not need others, so it is not granted to any role.
create or replace function platform.tg_touch() returns trigger
language plpgsql
volatile
security invoker
as $$
begin
  new.updated_at := now();
  return new;
end;
$$;

comment on function platform.tg_touch() is 'Keeps updated_at; its triggers fire only for rows that change.';
