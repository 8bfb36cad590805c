-- The part of platform.enter for what the server tells about the request and the configuration.
create or replace function platform.enter_request(context jsonb) returns text
language plpgsql
volatile
security invoker
as $$
begin
  -- The server tells the zone if it is not UTC, and the id of the request if custom code can read it.
  if context ?| '{timeZone,requestId}' then
    perform set_config('sternpost.time_zone', coalesce(context->>'timeZone', ''), true);
    perform set_config('sternpost.request_id', coalesce(context->>'requestId', ''), true);
  end if;

  -- The server tells only what the schema uses, which is mostly nothing.
  if context ?| '{headers,env,secrets}' then
    perform set_config(
      'sternpost.' || part.name || '.' || member.key,
      coalesce(case when part.name = 'headers' then '=' else '' end || member.value, ''),
      true
    )
    from unnest('{headers,env,secrets}'::text[]) as part (name)
    cross join jsonb_each_text(context->part.name) as member;
  end if;

  return '';
end;
$$;

comment on function platform.enter_request(jsonb) is 'The part of platform.enter for the request and the configuration.';
grant execute on function platform.enter_request(jsonb) to sternpost_caller, sternpost_code;
