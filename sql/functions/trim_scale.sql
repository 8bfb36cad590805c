-- Decimals as they go over the wire, without trailing zeros; for a single Decimal, Postgres' own trim_scale does the
-- same. Null stays null, and an empty array empty.
create or replace function platform.trim_scale(decimals numeric[]) returns numeric[]
language sql
immutable
parallel safe
security invoker
as $$
  select
    case
      when decimals is not null then
        array(
          select trim_scale(element.decimal)
          from unnest(decimals) with ordinality as element (decimal, place)
          order by element.place
        )
    end;
$$;

comment on function platform.trim_scale(numeric[]) is 'Decimals without trailing zeros.';
grant execute on function platform.trim_scale(numeric[]) to sternpost_caller, sternpost_code;
