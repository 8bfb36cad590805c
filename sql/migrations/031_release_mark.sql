-- A table without rows. Each installation of a release gives it another file, so that a call can tell whether its
-- snapshot is older than the newest release: see platform.require_newest.
create table platform.release_mark ();

comment on table platform.release_mark is 'Its file tells the newest release from those before; it has no rows.';
