-- The catalog as it was when a release was installed, so that a change by hand is found before the next migration.

alter table platform.release add column catalog json;

comment on column platform.release.catalog is 'Digests of what platform.catalog said when it was installed; kept for the newest release.';
