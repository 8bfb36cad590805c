-- What the histories of models keep. The trigger that writes platform.change writes it, in the transaction of the write:
-- it waits for no reader, and nothing is given up. Servers reach the table through the functions platform.history_*,
-- and have no grant on it.

create table platform.history (
  seq bigint generated always as identity,
  relation regclass not null,
  record text collate "C" not null,
  at timestamptz not null,
  kind text not null,
  identity_id text collate "C",
  action text,
  request_id text,
  previous jsonb,
  data jsonb,
  constraint history_pkey primary key (relation, record, seq),
  constraint history_kind_check check (kind in ('create', 'update', 'delete'))
);

create index history_at_idx on platform.history (relation, at); -- to sweep

comment on table platform.history is 'Every version of the rows of the models with @history.';
comment on column platform.history.seq is 'The order in which a record was written: the lock of its row orders the writers.';
comment on column platform.history.relation is 'The table of the record. It follows the table when that is renamed.';

drop function if exists platform.events_give_up(interval, integer);
