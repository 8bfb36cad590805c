-- The part of platform.enter for calls that have more to bind than a name: makes sure that the caller exists, and sets what of
-- the request and the configuration the schema mentions.
create or replace function platform.enter_caller(context jsonb) returns text
language plpgsql
volatile
security invoker
as $$
declare
  v_identity_id text := context->>'identityId';
begin
  -- The view is generated, so it is not there yet when this function is installed.
  if v_identity_id is not null
    and not exists (select from related.identity where identity.id = v_identity_id)
  then
    raise exception 'the identity does not exist' using errcode = 'SP401';
  end if;

  -- Only what the schema mentions is sent, which is mostly nothing.
  if context ?| '{headers,env,secrets}' then
    perform set_config('sternpost.' || part.name || '.' || member.key, coalesce(member.value, ''), true)
    from unnest('{headers,env,secrets}'::text[]) as part (name)
    cross join jsonb_each_text(context->part.name) as member;
  end if;

  return '';
end;
$$;

comment on function platform.enter_caller(jsonb) is 'The part of platform.enter for calls that have more to bind than a name.';
grant execute on function platform.enter_caller(jsonb) to sternpost_caller;
