-- Distinguishes a database that sternpost dev may change after each save from one that somebody else looks after.

alter table platform.release add column by_dev boolean not null default false;

comment on column platform.release.by_dev is 'Whether sternpost dev installed it.';
