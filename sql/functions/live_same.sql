-- Makes sure that the caller in whose name an answer is called for several callers is still one of them: in the snapshot of
-- the call, the rules ask the same of all of them. Else the answer could hold what the others may not see.
create or replace function platform.live_same(value jsonb, wanted jsonb) returns boolean
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if value is distinct from wanted then
    raise exception 'the rules ask something else of the caller now' using errcode = 'SP000';
  end if;
  return true;
end;
$$;

comment on function platform.live_same(jsonb, jsonb) is 'Ends a call for several callers whose caller is none of them any more.';
grant execute on function platform.live_same(jsonb, jsonb) to sternpost_server;
