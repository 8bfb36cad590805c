-- Returns the present position of the log, and notes it for an identity (for none if null). The server calls it right
-- after the transaction in which the identity wrote.
create or replace function platform.position_note(identity_id text) returns pg_lsn
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_position constant pg_lsn not null := pg_current_wal_insert_lsn();
begin
  if position_note.identity_id is not null then
    insert into platform.position as known (identity_id, position, noted_at)
    values (position_note.identity_id, v_position, now())
    on conflict on constraint position_pkey do update
    set position = greatest(known.position, excluded.position),
      noted_at = excluded.noted_at;
  end if;
  return v_position;
end;
$$;

comment on function platform.position_note(text) is 'Notes the position of the log after a write of an identity.';
grant execute on function platform.position_note(text) to sternpost_server;
