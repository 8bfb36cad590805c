-- Lets a statement wait for its turn before it locks any row, for triggers of tables whose rows computed fields depend
-- on. A statement that moves a key holds its own row when it comes to the row to which the key now leads. All others
-- lock these two in the other order: they share the turn, and one that moves the key has it alone. The arguments are
-- the turn's name, and alone or shared.
--
-- The turn ends with the transaction. So the triggers take it only for a statement that is a transaction by itself.
create or replace function platform.tg_take_turn() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_argv[1] = 'alone' then
    perform platform.take_turn('link', tg_argv[0]);
  else
    perform platform.share_turn('link', tg_argv[0]);
  end if;

  return null;
end;
$$;

comment on function platform.tg_take_turn() is 'Lets a statement wait for its turn before it locks any row.';
