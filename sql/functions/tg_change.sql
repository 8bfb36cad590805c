-- Writes what happened to a row to platform.change, to platform.history, or to both, by the name of the trigger:
-- _600_change, _600_history or _600_change_history. The trigger is on the tables of which somebody is told or a history
-- is kept, and its arguments are the model and the columns that are never told, such as passwords. An update of nothing
-- else is no change. It runs with the rights of its owner, since a role that writes the row has none on these tables.
create or replace function platform.tg_change() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hidden text[] := tg_argv[1:];
  v_kind text := case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end;
  v_xid xid8;
  v_old jsonb := to_jsonb(old) - v_hidden; -- null of an insert
  v_new jsonb := to_jsonb(new) - v_hidden; -- null of a delete
  v_at timestamptz := clock_timestamp();
begin
  if tg_op = 'UPDATE' and v_old - 'updated_at' = v_new - 'updated_at' then
    return null;
  end if;

  if tg_name <> '_600_history' then
    v_xid := pg_current_xact_id(); -- before nextval: no transaction that begins later has a smaller seq
    insert into platform.change (
      day, xid, seq, at, model, kind, record, identity_id, action, request_id, depth, previous, data
    )
    values (
      extract(epoch from v_at)::bigint / 86400 % 8,
      v_xid,
      nextval('platform.change_seq'),
      v_at,
      tg_argv[0],
      v_kind,
      coalesce(v_new, v_old)->>'id',
      nullif(current_setting('sternpost.identity_id', true), ''),
      nullif(current_setting('sternpost.origin', true), ''),
      nullif(current_setting('sternpost.request_id', true), ''),
      coalesce(nullif(current_setting('sternpost.depth', true), '')::smallint, 0),
      v_old,
      v_new
    );
  end if;

  if tg_name <> '_600_change' then
    insert into platform.history (relation, record, at, kind, identity_id, action, request_id, previous, data)
    values (
      tg_relid,
      coalesce(v_new, v_old)->>'id',
      v_at,
      v_kind,
      nullif(current_setting('sternpost.identity_id', true), ''),
      nullif(current_setting('sternpost.origin', true), ''),
      nullif(current_setting('sternpost.request_id', true), ''),
      v_old,
      v_new
    );
  end if;
  return null;
end;
$$;

comment on function platform.tg_change() is 'Writes what happened to a row to platform.change and platform.history.';
