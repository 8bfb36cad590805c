-- A large answer that shows a record is not kept but read anew: see platform.answer_find.
alter table platform.answer
  add column record text,
  add column digest bytea;

comment on column platform.answer.body is 'The response; null for a record that is read anew, and until the transaction ends that carries the call out.';
comment on column platform.answer.record is 'The id of a record that is read anew, in place of a large response; else null.';
comment on column platform.answer.digest is 'SHA-256 of the record as it was answered; null without one.';

drop function if exists platform.answer_claim(bytea, bytea, text, text, text);
drop function if exists platform.answer_find(bytea, bytea, text, text);
drop function if exists platform.answer_keep(bytea, text);
