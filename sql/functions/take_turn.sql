-- Waits until no other transaction has the turn of this kind and name, and has it until this transaction ends. Two
-- names may share a turn, two kinds do not, so transactions that take kinds in the same order cannot deadlock. Not
-- granted to any role: only functions beside it use it.
create or replace function platform.take_turn(kind text, name text) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('sternpost ' || kind || ' ' || name, 0));
$$;

comment on function platform.take_turn(text, text) is 'Waits for a turn, which one transaction has until it ends.';
