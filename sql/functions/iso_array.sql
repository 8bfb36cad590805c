-- Timestamps as they go over the wire. Null stays null, and an empty array empty.
create or replace function platform.iso(moments timestamptz[]) returns text[]
language sql
stable
parallel safe
security invoker
as $$
  select
    case
      when moments is not null then
        array(
          select platform.iso(element.moment)
          from unnest(moments) with ordinality as element (moment, place)
          order by element.place
        )
    end;
$$;

comment on function platform.iso(timestamptz[]) is 'Timestamps as they go over the wire.';
grant execute on function platform.iso(timestamptz[]) to sternpost_caller, sternpost_code;
