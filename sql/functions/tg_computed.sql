-- Refuses a write of columns that triggers keep, for triggers whose condition is that such a column changes.
create or replace function platform.tg_computed() returns trigger
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'a computed column of % cannot be written', tg_table_name
    using errcode = 'generated_always';
end;
$$;

comment on function platform.tg_computed() is 'Refuses a write of columns that triggers keep.';
