-- Waits until no other transaction has the turn of this kind and name, and has it until this transaction ends. Two
-- names may share a turn, two kinds do not, so transactions that take kinds in the same order cannot deadlock. Some
-- engines that are compatible with Postgres do not have advisory locks, and some providers keep them to themselves:
-- then it locks a row. Not granted to any role: only functions beside it use it.
create or replace function platform.take_turn(kind text, name text) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  begin
    perform pg_advisory_xact_lock(hashtextextended('sternpost ' || kind || ' ' || name, 0));
    return;
  exception
    when feature_not_supported or undefined_function or insufficient_privilege then
      null; -- there are none
  end;

  perform
  from platform.turn
  where turn.kind = take_turn.kind
    and turn.number = abs(hashtextextended(take_turn.name, 0) % 64)
  for update;
end;
$$;

comment on function platform.take_turn(text, text) is 'Waits for a turn, which one transaction has until it ends.';
