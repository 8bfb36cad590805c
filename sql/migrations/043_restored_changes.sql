-- A database that was restored from a dump has another cluster's transaction numbers in its record of changes, and in
-- what its consumers have seen.
alter table platform.consumer
  add column cluster bigint,
  add column base bigint not null default 0;

comment on column platform.consumer.cluster is 'The system identifier of the cluster whose transactions the snapshots are of; null if Postgres does not say it.';
comment on column platform.consumer.base is 'Changes up to this seq are of another cluster, and were read or became tasks.';
