-- Binds this transaction to all that is known of its call: the first line of every function in api that runs custom code, since
-- nobody knows what code reads. Other functions set by themselves what they read. Each call sets those on which permission rests,
-- so that nothing of an earlier call of the same transaction counts. Custom code must not call it: it would speak for somebody
-- else.
--
-- Every call pays for this one. It is a single expression of one function call each, so that it is inlined where it is
-- performed, which halves its cost; what most calls do not bring is in platform.enter_caller. The result means nothing, but no
-- part of it may be null: the planner takes text || null for null and would drop the calls.
create or replace function platform.enter(action text, context jsonb) returns text
language sql
volatile
security invoker
as $$
  select set_config('sternpost.action', action, true)
    || set_config('sternpost.identity_id', coalesce(context->>'identityId', ''), true)
    || case
      when context ?| '{identityId,timeZone,requestId,headers,env,secrets}' then platform.enter_caller(context)
      else ''
    end;
$$;

comment on function platform.enter(text, jsonb) is 'Binds this transaction to an action and its caller.';
grant execute on function platform.enter(text, jsonb) to sternpost_caller, sternpost_code;
