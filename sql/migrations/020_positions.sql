-- The position of the log at the last write of a caller, so that a replica that is behind it does not answer the next
-- reads of that caller. Only servers with replicas write here. The table is unlogged: it costs little, and it is empty
-- after a crash or a promotion, which servers notice.

create unlogged table platform.position (
  identity_id text collate "C" not null,
  position pg_lsn not null,
  noted_at timestamptz not null,
  constraint position_pkey primary key (identity_id)
) with (fillfactor = 50);

comment on table platform.position is 'How far the log had come when an identity last wrote, for servers that read from replicas.';

create index position_noted_at_idx on platform.position (noted_at); -- platform.position_sweep
