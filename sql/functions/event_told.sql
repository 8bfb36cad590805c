-- The event that a change is to a consumer; null if it is none. Not granted to any role: only functions beside it use it.
create or replace function platform.event_told(consumer platform.consumer, change platform.change) returns jsonb
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_told jsonb;
begin
  if consumer.events ? change.model then
    execute format('select api.%I($1, $2, $3)', consumer.events->>change.model)
    into v_told
    using change.kind, change.previous, change.data;
  end if;
  return case when v_told is not null then platform.event(change, v_told) end;
end;
$$;

comment on function platform.event_told(platform.consumer, platform.change) is 'The event that a change is to a consumer.';
