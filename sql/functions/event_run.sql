-- Runs the code of a subscriber for an event. There is no caller. Not granted to any role: only functions beside it use
-- it.
create or replace function platform.event_run(run text, name text, event jsonb, depth integer) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('select api.%I($1, $2)', run) using event, jsonb_build_object('depth', depth);
  perform set_config('sternpost.job', '', true), set_config('sternpost.depth', '', true), set_config('sternpost.origin', '', true);
end;
$$;

comment on function platform.event_run(text, text, jsonb, integer) is 'Runs the code of a subscriber for an event.';
