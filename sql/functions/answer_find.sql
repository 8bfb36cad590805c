-- What is kept under an id, if anything is: the answer, or the record that it showed and a digest of it. It refuses a
-- caller who is gone, and another request under the same key. In the rest of the transaction the action's function
-- answers a repetition: see platform.replayed.
create or replace function platform.answer_find(
  id bytea,
  asks bytea,
  identity_id text,
  token text,
  out is_kept boolean,
  out body text,
  out record text,
  out digest bytea
)
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
  is_kept := v_answer.id is not null;
  if not is_kept then
    return;
  end if;

  perform set_config('sternpost.identity_id', identity_id, true), set_config('sternpost.token', token, true);
  perform platform.require_caller();

  if v_answer.asks <> answer_find.asks then
    raise exception 'the idempotency key was used for another request' using errcode = 'SP422';
  end if;

  perform set_config('sternpost.replayed', '=' || coalesce(v_answer.record, ''), true);
  body := v_answer.body;
  record := v_answer.record;
  digest := v_answer.digest;
end;
$$;

comment on function platform.answer_find(bytea, bytea, text, text) is 'What is kept of the answer of a call.';
grant execute on function platform.answer_find(bytea, bytea, text, text) to sternpost_server;
