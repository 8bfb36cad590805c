-- Keeps how far a consumer has read. Not granted to any role: only functions beside it use it.
create or replace function platform.events_keep(consumer platform.consumer) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  update platform.consumer as kept
  set
    seen = consumer.seen,
    fence = consumer.fence,
    floor = consumer.floor,
    upto = consumer.upto,
    next_fence = consumer.next_fence,
    next_floor = consumer.next_floor,
    after = consumer.after,
    holder = consumer.holder,
    leased_until = consumer.leased_until
  where kept.name = consumer.name;
$$;

comment on function platform.events_keep(platform.consumer) is 'Keeps how far a consumer has read.';
