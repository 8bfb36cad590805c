-- What is kept for a caller is bounded, and a caller who is gone gets no kept answer: see platform.answer_claim.
alter table platform.answer add column caller text;

comment on column platform.answer.caller is 'The identity or client address that the answer is kept for; null if an earlier version kept it.';

create index answer_caller_idx on platform.answer (caller); -- platform.answer_claim

drop function if exists platform.answer_claim(bytea, bytea);
drop function if exists platform.answer_find(bytea, bytea);
