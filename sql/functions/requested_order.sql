-- The order of a list: the keys that a request names, then the keys of the list's own order that it does not name. If a
-- request names a key twice, the first counts. If `follows`, the id has the direction of the key before it. The server
-- has refused names that are not keys; here they are ignored.
create or replace function platform.requested_order(
  requested jsonb,
  own platform.sort_key[],
  others platform.sort_key[],
  follows boolean
) returns platform.sort_key[]
language plpgsql
immutable
parallel safe
security invoker
as $$
begin
  return case when requested is null then own else array(
    select row(
      name, expression, type, is_nullable,
      case
        when direction is not null then direction = 'desc'
        when follows and name = 'id' then
          coalesce(lag(coalesce(direction = 'desc', is_descending)) over (order by asked, place), is_descending)
        else is_descending
      end
    )::platform.sort_key
    from unnest(own || others) with ordinality as key (name, expression, type, is_nullable, is_descending, place)
    left join (
      select distinct on (name) name, direction, asked
      from jsonb_array_elements(requested) with ordinality as item (value, asked)
      cross join jsonb_each_text(item.value) as member (name, direction)
      order by name, asked
    ) as named using (name)
    where asked is not null or place <= cardinality(own)
    order by asked, place
  ) end;
end;
$$;

comment on function platform.requested_order(jsonb, platform.sort_key[], platform.sort_key[], boolean)
  is 'The order of a list as a request has it.';
grant execute on function platform.requested_order(jsonb, platform.sort_key[], platform.sort_key[], boolean)
  to sternpost_caller, sternpost_code;
