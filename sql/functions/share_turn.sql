-- Waits until no other transaction has the turn of this kind and name by platform.take_turn, and keeps it from others
-- until this transaction ends. Transactions that share a turn do not wait for each other. Without advisory locks it
-- locks a row, as platform.take_turn does. Not granted to any role: only functions beside it use it.
create or replace function platform.share_turn(kind text, name text) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  begin
    perform pg_advisory_xact_lock_shared(hashtextextended('sternpost ' || kind || ' ' || name, 0));
    return;
  exception
    when feature_not_supported or undefined_function or insufficient_privilege then
      null; -- there are none
  end;

  perform
  from platform.turn
  where turn.kind = share_turn.kind
    and turn.number = abs(hashtextextended(share_turn.name, 0) % 64)
  for share;
end;
$$;

comment on function platform.share_turn(text, text) is 'Waits for a shared turn, which several transactions can have at once.';
