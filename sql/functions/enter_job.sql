-- Binds this transaction to the code of a job or a subscriber. There is no caller, unless somebody has started the job.
create or replace function platform.enter_job(name text, context jsonb) returns void
language sql
volatile
security invoker
as $$
  select
    set_config('sternpost.action', 'custom code', true),
    set_config('sternpost.identity_id', coalesce(context->>'identityId', ''), true),
    set_config('sternpost.token', '', true),
    set_config('sternpost.time_zone', '', true),
    set_config('sternpost.request_id', '', true),
    set_config('sternpost.job', name, true),
    set_config('sternpost.origin', name, true),
    set_config('sternpost.depth', coalesce(context->>'depth', '0'), true),
    platform.enter_request(context);

  select platform.require_caller()
  where context->>'identityId' is not null;
$$;

comment on function platform.enter_job(text, jsonb) is 'Binds this transaction to the code of a job or a subscriber.';
grant execute on function platform.enter_job(text, jsonb) to sternpost_code;
