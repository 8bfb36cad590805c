-- The bytes that failed calls have stored. Each caller has a limit for a span of time, since storing the files of a
-- call costs before it is known whether the call succeeds.
create table platform.file_failure (
  caller text collate "C" not null,
  bytes bigint not null,
  since timestamptz not null default now(),
  constraint file_failure_pkey primary key (caller)
);

create index file_failure_since_idx on platform.file_failure (since); -- to sweep

comment on table platform.file_failure is 'Bytes that were stored for calls that failed, by who called.';
comment on column platform.file_failure.caller is 'An identity, or the address of an anonymous client.';
comment on column platform.file_failure.since is 'When counting began. It begins anew an hour later.';
