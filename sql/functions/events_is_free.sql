-- Tells whether a server may read for a consumer: it is not stopped, and no other server that is still there has leased
-- it. Not granted to any role: only functions beside it use it.
create or replace function platform.events_is_free(consumer platform.consumer) returns boolean
language sql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select
    consumer.stopped_at is null
    and case
      when consumer.leased_until > now() then consumer.holder <> all (array(select pg_stat_activity.pid from pg_stat_activity)) is true
      else true
    end;
$$;

comment on function platform.events_is_free(platform.consumer) is 'Tells whether a server may read for a consumer.';
