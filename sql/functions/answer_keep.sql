-- Keeps the answer of the call that this transaction has claimed and carries out, or the record that it shows and a
-- digest of it.
create or replace function platform.answer_keep(id bytea, body text, record text, digest bytea) returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  update platform.answer
  set body = answer_keep.body,
    record = answer_keep.record,
    digest = answer_keep.digest
  where answer.id = answer_keep.id
    and answer.body is null
    and answer.record is null;
$$;

comment on function platform.answer_keep(bytea, text, text, bytea) is 'Keeps the answer of a call that was claimed.';
grant execute on function platform.answer_keep(bytea, text, text, bytea) to sternpost_server;
