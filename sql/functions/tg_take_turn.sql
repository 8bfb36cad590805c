-- Lets a statement wait for its turns before it locks any row, for triggers of tables whose rows computed fields depend
-- on. A statement that moves a key holds its own row when it comes to the row to which the key now leads. All others
-- lock these two in the other order: they share the turn, and one that moves the key has it alone. The arguments are,
-- for each turn, its name, and alone or shared.
--
-- The turns end with the transaction. Triggers take them only for its first statement that locks rows.
create or replace function platform.tg_take_turn() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  for i in 0 .. tg_nargs - 1 by 2 loop
    if tg_argv[i + 1] = 'alone' then
      perform platform.take_turn('link', tg_argv[i]);
    else
      perform platform.share_turn('link', tg_argv[i]);
    end if;
  end loop;

  return null;
end;
$$;

comment on function platform.tg_take_turn() is 'Lets a statement wait for its turns before it locks any row.';
