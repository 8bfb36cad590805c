-- The answer that is kept under an id, or null. It refuses another request under the same key.
create or replace function platform.answer_find(id bytea, asks bytea) returns text
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

  if v_answer.asks <> answer_find.asks then
    raise exception 'the idempotency key was used for another request' using errcode = 'SP422';
  end if;

  return v_answer.body;
end;
$$;

comment on function platform.answer_find(bytea, bytea) is 'The kept answer of a call, or null.';
grant execute on function platform.answer_find(bytea, bytea) to sternpost_server;
