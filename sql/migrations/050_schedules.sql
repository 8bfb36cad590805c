-- The schedules of jobs. Any server that sees that a slot has come moves the row on, and queues the run: the lock of the
-- row makes it one.
create table platform.schedule (
  job text not null,
  text text not null,
  time_zone text not null,
  slot timestamptz not null default now(),
  constraint schedule_pkey primary key (job, text, time_zone)
);

comment on table platform.schedule is 'When jobs of the newest release run by themselves.';
comment on column platform.schedule.slot is 'The latest slot that was queued; at first when the schedule was installed.';
