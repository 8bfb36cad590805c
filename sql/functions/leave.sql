-- Ends a call of custom code, in its transaction. Code that has entered another action has seen no more rows for that, since its
-- policies ask for none, but it means harm or is mistaken: the call is undone, and the server ends the connection. Nobody
-- else need ask.
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
