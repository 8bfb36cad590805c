-- Waits until no other transaction has the turn of this kind and name by platform.take_turn, and keeps it from others
-- until this transaction ends. Transactions that share a turn do not wait for each other. Not granted to any role: only
-- functions beside it use it.
create or replace function platform.share_turn(kind text, name text) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock_shared(hashtextextended('sternpost ' || kind || ' ' || name, 0));
$$;

comment on function platform.share_turn(text, text) is 'Waits for a shared turn, which several transactions can have at once.';
