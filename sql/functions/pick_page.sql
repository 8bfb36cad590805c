-- The rows of a list's page, and one more, which tells whether another page follows: the value `picked` of each row, in
-- the order of the page. Each of `ways` is the rest of a query, from `from` on, that finds rows; additions to it go
-- before its end. A row that several ways find comes once. Like keys, ways are made of fragments fixed at compile time,
-- never of text from a request. They take the values of a request from parameters: $1 is the filter, $2 the position,
-- and $3 are the values that ways look behind.
--
-- The setting sternpost.page holds what else is known about the page; the statement of the server reads it after the
-- rows. It says whether rows lie on the other side of the page, then how many rows match in all, if they were counted.
-- A page requested `fromPosition` begins with the row at the position, as the pages of a list's forms do.
create or replace function platform.pick_page(
  input jsonb,
  keys platform.sort_key[],
  alias text,
  picked text,
  ways text[],
  ends text[] default '{""}',
  lists platform.text_list[] default '{}'
) returns text[]
language plpgsql
stable
security invoker
as $$
declare
  v_filter jsonb := input->'where';
  v_position jsonb := input->'position';
  v_is_backwards boolean := input ?| '{last,before}';
  v_size bigint := coalesce(input->>'first', input->>'last', input->>'limit', '50')::bigint;
  v_offset bigint := coalesce(input->>'offset', '0')::bigint;
  v_order text := platform.order_sql(keys, v_is_backwards);
  v_ranges text[] := '{true}';
  v_range text;
  v_sole text := case when cardinality(ways) = 1 and ends[1] = '' then ways[1] end; -- needs no merging
  v_total bigint;
  v_has_rows_before boolean := false;
  v_rows text[] := '{}';
begin
  if v_sole is null then
    ways := array(
      select case when way.rest = '' then '' else 'select ' || key.columns || way.rest end
      from unnest(ways) with ordinality as way (rest, place)
      cross join (select string_agg(key.expression, ', ') from unnest(keys) as key) as key (columns)
      order by way.place
    );
  end if;

  if input->'totalCount' = 'true' then
    execute coalesce(
      'select count(*)' || v_sole,
      'select count(*) from (' || platform.merged_sql(ways, ends, '', 'union') || ') as merged'
    )
    into v_total
    using v_filter, v_position, lists;
  end if;

  if v_position is not null then
    v_ranges := platform.ranges_beyond(keys, v_is_backwards, v_position);
    if input ? 'fromPosition' then
      v_ranges := platform.at_sql(keys, v_position) || v_ranges;
      v_size := v_size + 1;
      v_has_rows_before := true;
    end if;

    -- Most often the position's own row is still there, before the page. Told to begin at the page, Postgres finds the
    -- nearest row before it at once, or that there is none; left to itself it reads from the other end.
    foreach v_range in array platform.at_sql(keys, v_position) || platform.ranges_beyond(keys, not v_is_backwards, v_position)
    loop
      exit when v_has_rows_before;
      v_range := ' and ' || v_range || ' order by ' || platform.order_sql(keys, not v_is_backwards) || ' limit 1';
      execute coalesce(
        'select (select true' || v_sole || v_range || ') is not null',
        'select exists (select from (' || platform.merged_sql(ways, ends, v_range, 'union all') || ') as merged)'
      )
      into v_has_rows_before
      using v_filter, v_position, lists;
    end loop;
  end if;

  foreach v_range in array v_ranges loop
    exit when cardinality(v_rows) > v_size;
    v_range := ' and ' || v_range || ' order by ' || v_order;
    execute coalesce(
      'select $4 || array(select ' || picked || v_sole || v_range || ' limit $5 offset $6)',
      'select $4 || array(select ' || picked || ' from ('
        || platform.merged_sql(ways, ends, v_range || ' limit $5 + $6', 'union')
        || ') as ' || quote_ident(alias) || ' order by ' || v_order || ' limit $5 offset $6)'
    )
    into v_rows
    using v_filter, v_position, lists, v_rows, v_size + 1 - cardinality(v_rows), v_offset;
  end loop;

  if v_offset > 0 then
    execute coalesce(
      'select exists (select' || v_sole || ')',
      'select exists (select from (' || platform.merged_sql(ways, ends, ' limit 1', 'union all') || ') as merged)'
    )
    into v_has_rows_before
    using v_filter, v_position, lists;
  end if;

  perform set_config('sternpost.page', concat_ws(' ', v_has_rows_before, v_total), true);
  return v_rows;
end;
$$;

comment on function platform.pick_page(jsonb, platform.sort_key[], text, text, text[], text[], platform.text_list[])
  is 'The rows of a page of a list.';
grant execute on function platform.pick_page(jsonb, platform.sort_key[], text, text, text[], text[], platform.text_list[])
  to sternpost_caller, sternpost_code;
