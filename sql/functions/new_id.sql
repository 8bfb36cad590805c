-- A UUID of version 7, the default of every id. Twelve bits below the millisecond keep ids in the order in which one call makes
-- them, on which the order of nested children rests. One expression, so that it is inlined into the column's default.
create or replace function platform.new_id() returns text
language sql
volatile
parallel safe
security invoker
as $$
  select
    overlay(
      overlay(lpad(to_hex((date_part('epoch', clock_timestamp()) * 4096000)::bigint), 15, '0') placing '-7' from 13 for 0)
      placing '-' from 9 for 0
    ) || substr(gen_random_uuid()::text, 19);
$$;

comment on function platform.new_id() is 'A new id: unique, and sortable by the time of its making.';
grant execute on function platform.new_id() to sternpost_caller, sternpost_code;
