-- The numbers that count per row of another table. A row is locked by who takes a number, until they commit.
create table platform.counter (
  sequence text not null,
  per text collate "C" not null,
  last bigint not null,
  constraint counter_pkey primary key (sequence, per)
);

comment on table platform.counter is 'The last number of each sequence that counts per row of another table.';
comment on column platform.counter.per is 'The id of that row.';
