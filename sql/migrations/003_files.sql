-- Files: the contents that exist outside of the database, the rows that hold them, and uploads in progress. Contents
-- are written before the row that names them and deleted after it, so that a row never names missing contents. A crash
-- can leave contents that no row holds, which the servers delete.
--
-- Servers and actions reach these tables through the functions platform.file_*, and have no grant on any of them.

-- One stored file. It is entered before its contents are written, and held by the fields of app tables that name it.
-- Some time after no field holds it, it is deleted with its contents.
create table platform.file (
  key text collate "C" not null,
  holders integer not null default 0,
  created_at timestamptz not null default now(),
  released_at timestamptz,
  constraint file_pkey primary key (key),
  constraint file_holders_check check (holders >= 0)
);

create index file_free_idx on platform.file (coalesce(released_at, created_at)) where holders = 0; -- to sweep

comment on table platform.file is 'Files whose contents are stored, or are about to be, by the key of their contents.';
comment on column platform.file.holders is 'How many fields of rows name the file. The triggers platform.tg_files keep count.';
comment on column platform.file.released_at is 'Since when nobody holds it; null while somebody does, and before anybody did.';

-- An upload that a client may make. The key is kept in plain text, since it names the contents that were sent.
create table platform.file_upload (
  key text collate "C" not null,
  action text not null,
  field text not null,
  identity_id text collate "C",
  minter text collate "C" not null,
  filename text not null,
  content_type text not null,
  size bigint not null,
  minted_at timestamptz not null default now(),
  expires_at timestamptz not null,
  attached_at timestamptz,
  cleared_at timestamptz,
  constraint file_upload_pkey primary key (key)
);

create index file_upload_minter_idx on platform.file_upload (minter, expires_at) where attached_at is null; -- to count
create index file_upload_expires_at_idx on platform.file_upload (expires_at); -- to sweep
create index file_upload_attached_at_idx on platform.file_upload (attached_at) where attached_at is not null and cleared_at is null; -- likewise

comment on table platform.file_upload is 'Uploads by their key, until an hour after they expire.';
comment on column platform.file_upload.identity_id is 'Who may attach it; null means whoever holds the key.';
comment on column platform.file_upload.minter is 'Whose limit it counts against: an identity, or the address of an anonymous client.';
comment on column platform.file_upload.content_type is 'As declared, like name and size. What is stored is looked at when it is attached.';
comment on column platform.file_upload.cleared_at is 'When what was sent was deleted after it had been attached. Until the upload expires, more can be sent.';
