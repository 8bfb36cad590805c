-- Ends a call of custom code, in its transaction. If the code has entered another action, it has not seen more rows,
-- since its policies ignore the action. But such code is hostile or mistaken, so the call is rolled back and the server
-- ends the connection. Other calls do not need this check.
create or replace function platform.leave() returns void
language plpgsql
volatile
security invoker
as $$
begin
  if pg_catalog.current_setting('sternpost.action', true) is distinct from 'custom code' then
    raise exception 'custom code has entered the action %', pg_catalog.current_setting('sternpost.action', true)
      using errcode = 'SP500';
  end if;
end;
$$;

comment on function platform.leave() is 'Ends a call of custom code: undoes it if the code has entered another action.';
grant execute on function platform.leave() to sternpost_server;
