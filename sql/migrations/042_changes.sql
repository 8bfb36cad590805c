-- The record of what was written, for events. One trigger function writes it, on tables of which somebody is told; any
-- number of consumers read it. Servers reach the tables through the functions platform.events_*, and have no grant on
-- them.

create sequence platform.change_seq;

-- Rows are never updated or deleted. There is a partition for each of eight days, which is emptied before its next day:
-- making and dropping partitions would lock the table for writers.
create table platform.change (
  day smallint not null,
  xid xid8 not null,
  seq bigint not null,
  at timestamptz not null,
  model text not null,
  kind text not null,
  record text collate "C" not null,
  identity_id text collate "C",
  action text,
  request_id text,
  depth smallint not null,
  previous jsonb,
  data jsonb,
  constraint change_kind_check check (kind in ('create', 'update', 'delete'))
) partition by list (day);

do $$
begin
  for v_day in 0..7 loop
    execute format('create table platform.change_%1$s partition of platform.change for values in (%1$s)', v_day);
  end loop;
end;
$$;

create index change_seq_idx on platform.change (seq); -- what is new, in the order in which it was written
create index change_xid_idx on platform.change (xid); -- what transactions have written that were running at a snapshot

comment on table platform.change is 'What was written to tables of which somebody is told, by day modulo eight.';
comment on column platform.change.xid is 'The transaction that wrote it.';
comment on column platform.change.seq is 'The order in which a record was written: the lock of its row orders the writers.';
comment on column platform.change.depth is 'How many subscribers led to it: 0 for a call, 1 for what told code writes.';

-- A consumer has seen what is visible in a snapshot. While it reads what has come since, upto is the snapshot that it
-- reads up to, in the order of seq: a number alone would miss what a transaction commits later.
create table platform.consumer (
  name text not null,
  run text,
  events jsonb not null,
  seen pg_snapshot not null,
  fence xid8 not null,
  floor bigint not null,
  upto pg_snapshot,
  next_fence xid8,
  next_floor bigint,
  after bigint,
  constraint consumer_pkey primary key (name)
);

comment on table platform.consumer is 'The subscribers of the newest release, and how far each has read platform.change.';
comment on column platform.consumer.run is 'The function in api that runs its code.';
comment on column platform.consumer.events is 'The functions in api that say what a change means to it, by model.';
comment on column platform.consumer.fence is 'A transaction that had begun when the snapshot was taken; the latest ones that ran then may be behind its xmax.';
comment on column platform.consumer.floor is 'What transactions behind the fence write is behind this seq.';
