-- The rows of a list's page, and one more, which tells whether another page follows: the value `picked` of each row, in
-- the order of the page. Everything but `input` is made of fragments fixed at compile time, never of text from a
-- request. Statements take the values of a request from parameters: $1 is the filter, $2 the position, and $3 are the
-- values of the caller, `own`.
--
--   sources    where rows come from
--   rules      the condition of the rules on one row of each source
--   is_open    whether the rules admit all rows
--   ways       the ways in which the rules admit rows otherwise, from the caller outwards; a row may come in several
--   found_by   the fields of the filter whose rows an index may find
--   walked     the fields that rows can be ordered by along an index
--   tables     the tables of the sources
--   near       how many rows of the list's own order to look at first, then at the most; null for none
--   bounds     those of the conditions that are on the first key of the list's own order
--   columns    what is read of rows; the keys if null
--
-- A caller with many rows has enough of them among the next rows of the order. They are looked at first, each judged by
-- itself, but never more than the ways would read: so this costs no more than what follows if it is in vain.
--
-- The setting sternpost.page, which the server reads behind the rows, says whether rows lie on the other side of the
-- page, then how many match in all, if they were counted.
create or replace function platform.pick_page(
  input jsonb,
  keys platform.sort_key[],
  alias text,
  picked text,
  filter text,
  sources text[],
  rules text[] default '{}',
  is_open boolean default true,
  ways platform.way[] default '{}',
  own text[] default '{}',
  found_by text[] default '{}',
  walked text[] default '{}',
  tables regclass[] default '{}',
  near bigint[] default null,
  bounds text default '',
  columns text default null
) returns text[]
language plpgsql
stable
security invoker
as $$
declare
  v_filter jsonb := input->'where';
  v_position jsonb := input->'position';
  v_is_backwards boolean := input ?| '{last,before}';
  v_size bigint := 1 + coalesce(input->>'first', input->>'last', input->>'limit', '50')::bigint;
  v_offset bigint := coalesce(input->>'offset', '0')::bigint;
  v_order text := platform.order_sql(keys, v_is_backwards);
  v_columns text := coalesce(columns, (select string_agg(expression, ', ') from unnest(keys)));
  v_is_found boolean := coalesce(v_filter ?| found_by, false);
  v_is_fenced boolean := not is_open and (v_is_found or input ?| '{orderBy,totalCount}');
  v_rows_of text := ') as ' || quote_ident(alias);
  v_ranges text[] := '{true}';
  v_range text;
  v_total bigint;
  v_has_rows_before boolean := false;
  v_rows text[] := '{}';
begin
  if is_open then
    ways := array(select row(source, 'true', null, null, null)::platform.way from unnest(sources) as source);
  end if;

  if input->'totalCount' = 'true' then
    execute 'select count(*) from (' || platform.merged_sql(ways, alias, v_columns, filter, v_is_fenced) || v_rows_of
      into v_total
      using v_filter, v_position, own;
  end if;

  -- Most often the position's own row is still there, before the page.
  if v_position is not null then
    v_ranges := platform.ranges_beyond(keys, v_is_backwards, v_position);
    execute 'select exists (' || (
        select string_agg('select from ' || source || ' where ' || at || filter || coalesce(' and ' || rule, ''), ' union all ')
        from unnest(sources, case when not is_open then rules end) as listed (source, rule)
        cross join (
          select string_agg(expression || format(
            case when is_nullable then ' is not distinct from ($2->>%s)::%s' else ' = ($2->>%s)::%s' end, place - 1, type), ' and ')
          from unnest(keys) with ordinality as key (name, expression, type, is_nullable, is_descending, place)
        ) as position (at)
      ) || ')'
      into v_has_rows_before
      using v_filter, v_position, own;
    foreach v_range in array platform.ranges_beyond(keys, not v_is_backwards, v_position) loop
      exit when v_has_rows_before;
      execute 'select exists (' || platform.merged_sql(
            ways, alias, '', filter || ' and ' || v_range, v_is_fenced, platform.order_sql(keys, not v_is_backwards), ' limit 1', ' union all ') || ')'
        into v_has_rows_before
        using v_filter, v_position, own;
    end loop;
  end if;

  if is_open or cardinality(v_ranges) > 1 or v_is_found or v_is_fenced and not (keys[1]).name = any (walked) then
    near := null;
  elsif v_is_fenced then
    execute 'select array[$4, count(*)] from (select from (' || platform.merged_sql(ways, alias, '', filter, true, word => ' union all ')
        || ') as own limit $4) as own'
      into near
      using v_filter, v_position, own,
        (select ceil(sqrt(2 * v_size * greatest(1, sum(reltuples))))::bigint from pg_class where oid = any (tables));
  end if;
  while near[1] <= near[2] loop
    execute 'select array(select case when list__place < $4 then ' || picked || ' end from (' || (
        select string_agg(
          format(
            '(select %2$s, list__mine, row_number() over (order by %6$s) as list__place from (select %1$I.*, (true%4$s and %7$s) as list__mine'
              ' from %3$s where %5$s order by %6$s limit $4) as %1$I)',
            alias, v_columns, source, filter, v_ranges[1] || bounds, v_order, rule
          ),
          ' union all '
        )
        from unnest(sources, rules) as listed (source, rule)
      ) || v_rows_of || ' where list__mine or list__place = $4 order by ' || v_order || ' limit $5)'
      into v_rows
      using v_filter, v_position, own, near[1], v_size + v_offset;
    exit when array_position(v_rows, null) is null; -- no stretch ended before the page: its last row shows that, also if it is the caller's
    near[1] := 8 * near[1];
  end loop;

  if near[1] <= near[2] then
    v_rows := v_rows[v_offset + 1:];
  else
    v_rows := '{}';
    foreach v_range in array v_ranges loop
      execute 'select $4 || array(select ' || picked || ' from ('
          || platform.merged_sql(ways, alias, v_columns, filter || ' and ' || v_range, v_is_fenced, v_order, ' limit $5 + $6')
          || v_rows_of || ' order by ' || v_order || ' limit $5 offset $6)'
        into v_rows
        using v_filter, v_position, own, v_rows, v_size - cardinality(v_rows), v_offset;
      exit when cardinality(v_rows) >= v_size;
    end loop;
  end if;

  if v_offset > 0 then
    execute 'select exists (' || platform.merged_sql(
          ways, alias, '', filter, v_is_fenced, case when not is_open then v_order end, ' limit 1', ' union all ') || ')'
      into v_has_rows_before
      using v_filter, v_position, own;
  end if;
  perform set_config('sternpost.page', concat_ws(' ', v_has_rows_before, v_total), true);
  return v_rows;
end;
$$;

comment on function platform.pick_page is 'The rows of a page of a list.';
grant execute on function platform.pick_page to sternpost_caller, sternpost_code;
