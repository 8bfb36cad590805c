-- Keeps the answer of the call that this transaction has claimed and carries out.
create or replace function platform.answer_keep(id bytea, body text) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.answer
  set body = answer_keep.body
  where answer.id = answer_keep.id
    and answer.body is null;
$$;

comment on function platform.answer_keep(bytea, text) is 'Keeps the answer of a call that was claimed.';
grant execute on function platform.answer_keep(bytea, text) to sternpost_server;
