-- The answer that is kept under an id, or null. It refuses a caller who is gone, and another request under the same key.
create or replace function platform.answer_find(id bytea, asks bytea, identity_id text, token text) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer platform.answer;
begin
  select answer.*
  into v_answer
  from platform.answer
  where answer.id = answer_find.id
    and answer.expires_at > now();
  if v_answer.id is null then
    return null;
  end if;

  perform set_config('sternpost.identity_id', identity_id, true), set_config('sternpost.token', token, true);
  perform platform.require_caller();

  if v_answer.asks <> answer_find.asks then
    raise exception 'the idempotency key was used for another request' using errcode = 'SP422';
  end if;

  return v_answer.body;
end;
$$;

comment on function platform.answer_find(bytea, bytea, text, text) is 'The kept answer of a call, or null.';
grant execute on function platform.answer_find(bytea, bytea, text, text) to sternpost_server;
