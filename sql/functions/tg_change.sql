-- Writes what happened to a row to platform.change, to platform.history, or to both. The name of the trigger says for
-- whom: _600_change for those who are told of it, _600_live for live answers, _600_history, or several of these in this
-- order. Its arguments are the model and the columns that are left out: those that are never told, such as passwords, or
-- for live answers alone all but the keys. To those who are told and to histories, an update of nothing else is no change;
-- live answers learn that there was one. Without a model it is on tables of sign-ins. It runs with the rights of its owner, since a role that writes the row has none
-- on these tables.
--
-- Every write of these tables pays for this function. So it has few expressions, since Postgres prepares each anew in
-- each transaction, and the two tables have no CHECK, which Postgres reads anew for each statement.
create or replace function platform.tg_change() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old jsonb := to_jsonb(old); -- null of an insert
  v_new jsonb := to_jsonb(new); -- null of a delete
  v_kind text; -- null means that the rows tell
begin
  if tg_nargs > 1 then
    v_old := v_old - tg_argv[1:];
    v_new := v_new - tg_argv[1:];
  end if;
  if tg_argv[0] = '' then -- of a sign-in, nothing but whose it is
    v_kind := 'hidden';
    v_new := jsonb_build_object('identity_id', coalesce(v_new, v_old)->'identity_id');
    v_old := v_new;
  elsif tg_op = 'UPDATE' then
    if tg_name = '_600_live' then
      if old *= new then
        return null;
      end if;
    elsif v_old - 'updated_at' = v_new - 'updated_at' then
      if tg_name !~ '_live' or old *= new then
        return null;
      end if;
      v_kind := 'hidden';
    end if;
  elsif tg_op = 'TRUNCATE' then
    v_kind := 'truncate';
  end if;

  -- The write of the row has given this transaction its number: none that begins later has a smaller seq.
  if tg_name <> '_600_history' then
    insert into platform.change (
      day, xid, seq, at, model, kind, record, identity_id, action, request_id, depth, previous, data
    )
    values (
      date_part('epoch', clock_timestamp())::bigint / 86400 % 8,
      pg_current_xact_id(),
      nextval('platform.change_seq'),
      clock_timestamp(),
      tg_argv[0],
      coalesce(v_kind, case when v_old is null then 'create' when v_new is null then 'delete' else 'update' end),
      coalesce(v_new->>'id', v_old->>'id', ''),
      nullif(current_setting('sternpost.identity_id', true), ''),
      nullif(current_setting('sternpost.origin', true), ''),
      nullif(current_setting('sternpost.request_id', true), ''),
      coalesce(nullif(current_setting('sternpost.depth', true), '')::smallint, 0),
      v_old,
      v_new
    );
  end if;

  if tg_name like '%_history' and v_kind is null then
    insert into platform.history (relation, record, at, kind, identity_id, action, request_id, previous, data)
    values (
      tg_relid,
      coalesce(v_new, v_old)->>'id',
      clock_timestamp(),
      case when v_old is null then 'create' when v_new is null then 'delete' else 'update' end,
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
