-- The answers to calls with an Idempotency-Key, so that a repeated call gets the same answer. The transaction of the
-- call itself writes the row. Servers use the functions platform.answer_*; no other role may read the answers of a
-- caller.

create table platform.answer (
  id bytea not null,
  asks bytea not null,
  body text,
  expires_at timestamptz not null,
  constraint answer_pkey primary key (id)
);

comment on table platform.answer is 'The answers of calls under an Idempotency-Key, for a day.';
comment on column platform.answer.id is 'SHA-256 of action, caller and key.';
comment on column platform.answer.asks is 'A digest of the input; a keyed one where that holds passwords or secrets.';
comment on column platform.answer.body is 'The response; null only until the transaction ends that carries the call out.';

create index answer_expires_at_idx on platform.answer (expires_at); -- platform.answer_sweep
