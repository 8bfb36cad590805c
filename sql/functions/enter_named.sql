-- platform.enter for actions whose rules prove that the caller exists: each row that they admit is linked to the caller by a
-- foreign key, or by what is read from the caller's row. So nobody looks at the identity, until nothing is found or the call is
-- refused: then platform.require_caller does. Inlinable, like platform.enter.
create or replace function platform.enter_named(action text, context jsonb) returns text
language sql
volatile
security invoker
as $$
  select set_config('sternpost.action', action, true)
    || set_config('sternpost.identity_id', coalesce(context->>'identityId', ''), true)
    || case
      when context->>'identityId' = '' then platform.enter_caller(context)
      when context ?| '{timeZone,requestId,headers,env,secrets}' then platform.enter_request(context)
      else ''
    end;
$$;

comment on function platform.enter_named(text, jsonb) is 'Binds this transaction to an action and its caller, who is not looked for.';
grant execute on function platform.enter_named(text, jsonb) to sternpost_caller;
