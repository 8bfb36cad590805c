-- The consumer once it has passed a seq; without one, all up to the snapshot that it reads up to. No server has it leased
-- any more. Not granted to any role: only functions beside it use it.
create or replace function platform.events_passed(consumer platform.consumer, last bigint) returns platform.consumer
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  consumer.holder := null;
  consumer.leased_until := null;
  if last is not null then
    consumer.after := last;
    return consumer;
  end if;
  consumer.seen := consumer.upto;
  consumer.fence := consumer.next_fence;
  consumer.floor := consumer.next_floor;
  consumer.upto := null;
  consumer.after := null;
  return consumer;
end;
$$;

comment on function platform.events_passed(platform.consumer, bigint) is 'The consumer once it has passed a seq.';
