-- Binds this transaction to an action and its caller: the first line of every function in api. Nothing else sets these
-- settings, and each call sets all of them, so nothing is left of an earlier call of the same transaction. Custom code must not
-- call it: it would speak for somebody else.
create or replace function platform.enter(action text, context jsonb) returns void
language plpgsql
volatile
security invoker
as $$
declare
  v_identity_id text := context->>'identityId';
begin
  perform
    set_config('sternpost.action', enter.action, true),
    set_config('sternpost.identity_id', coalesce(v_identity_id, ''), true),
    set_config('sternpost.time_zone', coalesce(context->>'timeZone', ''), true),
    set_config('sternpost.request_id', coalesce(context->>'requestId', ''), true);

  -- Only what the schema mentions is sent, which is mostly nothing.
  if context ?| '{headers,env,secrets}' then
    perform set_config('sternpost.' || part.name || '.' || member.key, coalesce(member.value, ''), true)
    from unnest('{headers,env,secrets}'::text[]) as part (name)
    cross join jsonb_each_text(context->part.name) as member;
  end if;

  -- The view is generated, so it is not there yet when this function is installed.
  if v_identity_id is not null
    and not exists (select from related.identity where identity.id = v_identity_id)
  then
    raise exception 'the identity does not exist' using errcode = 'SP401';
  end if;
end;
$$;

comment on function platform.enter(text, jsonb) is 'Binds this transaction to an action and its caller.';
grant execute on function platform.enter(text, jsonb) to sternpost_caller;
