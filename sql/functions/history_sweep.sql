-- Deletes what histories do not keep any longer, of each table at most so many entries, and tells whether some may be
-- left: what is older than the newest release keeps it, and all of tables of which it keeps none. Writers add rows, and
-- wait for nothing here.
create or replace function platform.history_sweep(most integer) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept json := (select release.manifest->'histories' from platform.release order by release.number desc limit 1);
  v_relation regclass := (select history.relation from platform.history order by history.relation limit 1);
  v_model json;
  v_count integer;
  v_is_more boolean := false;
begin
  while v_relation is not null loop
    v_model := (
      select model.of_table
      from json_array_elements(v_kept) as model (of_table)
      where to_regclass(format('app.%I', model.of_table->>'table')) = v_relation
    );
    delete from platform.history
    where history.ctid = any (
      array(
        select old.ctid
        from platform.history as old
        where old.relation = v_relation
          and old.at < case when v_model is null then 'infinity' else now() - (v_model->>'keep')::interval end
        order by old.at
        limit most
        for update skip locked
      )
    );
    get diagnostics v_count = row_count;
    v_is_more := v_is_more or v_count = most;
    v_relation := (select history.relation from platform.history where history.relation > v_relation order by history.relation limit 1);
  end loop;
  return v_is_more;
end;
$$;

comment on function platform.history_sweep(integer) is 'Deletes what histories do not keep any longer.';
grant execute on function platform.history_sweep(integer) to sternpost_server;
