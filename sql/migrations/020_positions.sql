-- How far the log of the database had come when a caller last wrote, so that what the caller then reads is not answered by a
-- replica that has not come as far. Only servers with replicas write here. The table is not logged: it costs little, and is
-- empty after a crash or a promotion, of which servers know.

create unlogged table platform.position (
  identity_id text collate "C" not null,
  position pg_lsn not null,
  noted_at timestamptz not null,
  constraint position_pkey primary key (identity_id)
) with (fillfactor = 50);

comment on table platform.position is 'How far the log had come when an identity last wrote, for servers that read from replicas.';

create index position_noted_at_idx on platform.position (noted_at); -- platform.position_sweep
