-- The jobs of the newest release. Their runs are tasks.
create table platform.job (
  name text not null,
  run text not null,
  constraint job_pkey primary key (name)
);

comment on table platform.job is 'The jobs of the newest release.';
comment on column platform.job.run is 'The function in api that runs its code.';
comment on column platform.task.payload is 'The event, or the inputs of a run and who started it.';
comment on column platform.task.key is 'The recipient of a mail (null if nobody has the address), the key of a file or an upload, the record of an event, the id of a run.';
