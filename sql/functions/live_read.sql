-- What was written since a snapshot, for live answers: one object for each change, with the row's keys before and after. The
-- first call has no snapshot, and learns that of now. New are the changes of transactions that began after the snapshot,
-- or that were running then, if they are visible now. A server keeps the snapshot in memory: it asks every 25 ms, so the
-- changes are there, and reads every answer anew when it has lost the snapshot, or another cluster answers.
create or replace function platform.live_read(seen pg_snapshot, out upto pg_snapshot, out cluster bigint, out changes json)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  upto := pg_current_snapshot();
  cluster := platform.cluster();
  if seen is null or seen::text = upto::text then
    return;
  end if;
  select json_agg(json_build_object('model', new.model, 'whole', new.kind = 'truncate', 'old', new.previous, 'new', new.data))
  into changes
  from (
    select change.* from platform.change where change.xid >= pg_snapshot_xmax(seen)
    union all
    select change.* from platform.change where change.xid = any (array(select pg_snapshot_xip(seen)))
  ) as new;
end;
$$;

comment on function platform.live_read(pg_snapshot) is 'What was written since a snapshot, for live answers.';
grant execute on function platform.live_read(pg_snapshot) to sternpost_server;
