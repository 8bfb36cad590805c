-- Dates where they meet Timestamps, each its midnight in UTC, in their order.
create or replace function platform.midnight(days date[]) returns timestamptz[]
language sql
immutable
parallel safe
security invoker
as $$
  select case
    when days is not null then
      array(
        select element.value::timestamp at time zone 'UTC'
        from unnest(days) with ordinality as element (value, place)
        order by element.place
      )
  end;
$$;

comment on function platform.midnight(date[]) is 'The midnights in UTC at which Dates begin.';
grant execute on function platform.midnight(date[]) to sternpost_caller, sternpost_code;
