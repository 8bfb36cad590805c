-- Durations as they go over the wire. Null stays null, and an empty array empty.
create or replace function platform.iso_duration(durations interval[]) returns text[]
language sql
stable
parallel safe
security invoker
as $$
  select
    case
      when durations is not null then
        array(
          select platform.iso_duration(element.duration)
          from unnest(durations) with ordinality as element (duration, place)
          order by element.place
        )
    end;
$$;

comment on function platform.iso_duration(interval[]) is 'Durations as they go over the wire.';
grant execute on function platform.iso_duration(interval[]) to sternpost_caller, sternpost_code;
