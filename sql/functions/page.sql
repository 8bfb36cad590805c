-- The answer of a list, from the records of its page in the order of the list. `total` and `page_number` are left out when null.
create or replace function platform.page(
  records text[],
  action text,
  keys platform.sort_key[],
  has_previous boolean,
  has_next boolean,
  total bigint default null,
  page_number bigint default null
) returns text
language plpgsql
stable
parallel safe
security invoker
as $$
declare
  v_count int := coalesce(cardinality(records), 0);
  v_mark text := platform.list_mark(action, keys);
begin
  return '{"results":['
    || coalesce(array_to_string(records, ','), '')
    || '],"pageInfo":{"startCursor":"'
    || case when v_count > 0 then platform.cursor(v_mark, records[1]::json, keys) else '' end
    || '","endCursor":"'
    || case when v_count > 0 then platform.cursor(v_mark, records[v_count]::json, keys) else '' end
    || '","hasNextPage":' || has_next
    || ',"hasPreviousPage":' || has_previous
    || ',"count":' || v_count
    || coalesce(',"totalCount":' || total, '')
    || coalesce(',"pageNumber":' || page_number, '')
    || '}}';
end;
$$;

comment on function platform.page(text[], text, platform.sort_key[], boolean, boolean, bigint, bigint)
  is 'The answer of a list.';
grant execute on function platform.page(text[], text, platform.sort_key[], boolean, boolean, bigint, bigint)
  to sternpost_caller;
