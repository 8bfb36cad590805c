-- Binds this transaction to everything that is known about its call. It is the first line of every function in api that
-- runs custom code, since nobody knows what the code reads. Other functions set only what they read. Each call sets the
-- settings that permissions depend on, so that an earlier call of the same transaction has no effect. Custom code must
-- not call it, since it could then act as another caller.
--
-- Every call pays for this function. It is a single expression of one function call for each setting, so that it is
-- inlined, which halves its cost. The settings that most calls do not have are in platform.enter_caller. The result
-- does not mean anything, but no part of it may be null: the planner takes text || null for null and would drop the
-- calls.
create or replace function platform.enter(action text, context jsonb) returns text
language sql
volatile
security invoker
as $$
  select set_config('sternpost.action', action, true)
    || set_config('sternpost.identity_id', coalesce(context->>'identityId', ''), true)
    || set_config('sternpost.token', coalesce(context->>'token', ''), true)
    || case
      when context ?| '{identityId,timeZone,requestId,headers,env,secrets}' then platform.enter_caller(context)
      else ''
    end;
$$;

comment on function platform.enter(text, jsonb) is 'Binds this transaction to an action and its caller.';
grant execute on function platform.enter(text, jsonb) to sternpost_caller, sternpost_code;
