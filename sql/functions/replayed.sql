-- The id of the record that this call answers anew, as the repetition of a call under an Idempotency-Key; empty if the
-- server has kept the answer, null if the call is not a repetition. Functions in api ask for it once they have refused
-- what they refuse before any row is read. platform.answer_find sets it.
create or replace function platform.replayed() returns text
language sql
stable
parallel safe
security invoker
as $$
  select substr(nullif(current_setting('sternpost.replayed', true), ''), 2);
$$;

comment on function platform.replayed() is 'The record that a repetition answers; empty if the server has its answer, null if the call is none.';
grant execute on function platform.replayed() to sternpost_caller, sternpost_code;
