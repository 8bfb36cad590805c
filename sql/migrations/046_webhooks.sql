-- Webhooks: events that are sent to an address. Those that could not be sent are tasks of a kind of their own, since
-- servers do them otherwise than those of code.
alter table platform.task
  drop constraint task_kind_check,
  add constraint task_kind_check check (kind in ('mail', 'file', 'upload', 'event', 'delivery', 'job'));

-- What a webhook is told is sent outside of transactions, so a server leases it meanwhile.
alter table platform.consumer
  add column holder integer,
  add column leased_until timestamptz,
  add column stopped_at timestamptz,
  add column begun bigint not null default 0;

comment on column platform.consumer.run is 'The function in api that runs its code; null of a webhook.';
comment on column platform.consumer.holder is 'The process of the connection by which the server that has the lease shows that it is there.';
comment on column platform.consumer.leased_until is 'When the lease of a server expires that sends; null if none sends.';
comment on column platform.consumer.stopped_at is 'When the address answered that it wants no more; it waits to be resumed.';
comment on column platform.consumer.begun is 'Changes up to this seq were written before it was there.';
