-- The answer of a list, from the records of its page in the order of the list. Without records there are no cursors. `total` and
-- `page_number` are left out when null.
create or replace function platform.list_page(
  records text[],
  start_cursor text,
  end_cursor text,
  has_next boolean,
  has_previous boolean,
  count int,
  total bigint default null,
  page_number bigint default null
) returns text
language sql
stable
parallel safe
security invoker
as $$
  select
    '{"results":['
    || coalesce(array_to_string(records, ','), '')
    -- In parentheses, so that the long text of the records is copied once and not for each part of the short rest.
    || (
      '],"pageInfo":{"startCursor":"'
      || case when count > 0 then start_cursor else '' end
      || '","endCursor":"'
      || case when count > 0 then end_cursor else '' end
      || case when has_next then '","hasNextPage":true' else '","hasNextPage":false' end
      || case when has_previous then ',"hasPreviousPage":true' else ',"hasPreviousPage":false' end
      || ',"count":'
      || count
      || coalesce(',"totalCount":' || total, '')
      || coalesce(',"pageNumber":' || page_number, '')
      || '}}'
    );
$$;

comment on function platform.list_page(text[], text, text, boolean, boolean, int, bigint, bigint) is 'The answer of a list.';
grant execute on function platform.list_page(text[], text, text, boolean, boolean, int, bigint, bigint) to sternpost_caller, sternpost_code;
