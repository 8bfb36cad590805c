-- Keeps updated_at. Its triggers fire only for rows that change, which is their condition to state. It runs with the rights of
-- anyone who writes and needs none of its own, so nobody is granted it.
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
