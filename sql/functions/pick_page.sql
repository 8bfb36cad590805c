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
--
-- A caller with many rows has enough of them among the next rows of the order. They are looked at first, each judged by
-- itself, but never more than the ways would read: so this costs no more than what follows if it is in vain.
--
-- The setting sternpost.page holds what else is known about the page; the statement of the server reads it after the
-- rows. It says whether rows lie on the other side of the page, then how many rows match in all, if they were counted.
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
  bounds text default ''
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
  v_columns text := platform.order_sql(array(select row(name, expression, type, false, false)::platform.sort_key from unnest(keys)), false);
  v_is_found boolean := coalesce(v_filter ?| found_by, false);
  v_is_fenced boolean := not is_open and (v_is_found or input ?| '{orderBy,totalCount}');
  v_table text := quote_ident(alias);
  v_sources platform.way[] := array(
    select row(source, array[case when is_open then 'true' else rule end], null, null, null)::platform.way
    from unnest(sources, rules) as listed (source, rule)
  );
  v_ranges text[] := '{true}';
  v_before text[];
  v_range text;
  v_query text;
  v_total bigint;
  v_own bigint;
  v_has_rows_before boolean := false;
  v_rows text[] := '{}';
begin
  if is_open then
    ways := v_sources;
  end if;

  if input->'totalCount' = 'true' then
    execute 'select count(*) from (' || platform.merged_sql(ways, alias, v_columns, filter, v_is_fenced) || ') as merged'
      into v_total
      using v_filter, v_position, own;
  end if;

  -- Most often the position's own row is still there, before the page. Told to begin at the page, Postgres finds the
  -- nearest row before it at once, or that there is none; left to itself it reads from the other end.
  if v_position is not null then
    v_ranges := platform.ranges_beyond(keys, v_is_backwards, v_position);
    v_before := platform.ranges_beyond(keys, not v_is_backwards, v_position);
    foreach v_query in array array[
        platform.merged_sql(v_sources, alias, '', filter, false, ' and ' || platform.at_sql(keys, v_position), word => ' union all '),
        case when near is not null then
          'select from (' || platform.stretch_sql(
            v_sources, alias, v_columns, filter, v_before[1], platform.order_sql(keys, not v_is_backwards)) || ') as nearest where list__mine'
        end
      ]
      || array(
        select platform.merged_sql(
          ways, alias, '', filter, v_is_fenced, ' and ' || range, keys, not v_is_backwards, ' limit 1', ' union all ')
        from unnest(v_before) as range
      )
    loop
      exit when v_has_rows_before;
      continue when v_query is null;
      execute 'select exists (' || v_query || ')' into v_has_rows_before using v_filter, v_position, own, near[1];
    end loop;
  end if;

  if is_open or cardinality(v_ranges) > 1 or v_is_found or v_is_fenced and not (keys[1]).name = any (walked) then
    near := null;
  elsif v_is_fenced then
    select array[ceil(sqrt(2 * v_size * greatest(1, sum(reltuples))))] into near from pg_class where oid = any (tables);
    execute 'select count(*) from (select from (' || platform.merged_sql(ways, alias, '', filter, true, word => ' union all ')
        || ') as own limit $4) as own'
      into v_own
      using v_filter, v_position, own, near[1];
    near[2] := v_own;
  end if;
  while near[1] <= near[2] loop
    execute 'select array(select case when list__place < $4 then ' || picked || ' end from ('
        || platform.stretch_sql(v_sources, alias, v_columns, filter, v_ranges[1] || bounds, v_order)
        || ') as ' || v_table || ' where list__mine or list__place = $4 order by ' || v_order || ' limit $5)'
      into v_rows
      using v_filter, v_position, own, near[1], v_size + v_offset;
    near[1] := 8 * near[1];
    if array_position(v_rows, null) is null then -- no stretch ended before the page: its last row shows that, also if it is the caller's
      v_ranges := '{}';
      v_rows := v_rows[v_offset + 1:];
      near := null;
    else
      v_rows := '{}';
    end if;
  end loop;

  foreach v_range in array v_ranges loop
    exit when cardinality(v_rows) >= v_size;
    execute 'select $4 || array(select ' || picked || ' from ('
        || platform.merged_sql(
          ways, alias, v_columns, filter, v_is_fenced, ' and ' || v_range, keys, v_is_backwards, ' limit $5 + $6')
        || ') as ' || v_table || ' order by ' || v_order || ' limit $5 offset $6)'
      into v_rows
      using v_filter, v_position, own, v_rows, v_size - cardinality(v_rows), v_offset;
  end loop;

  if v_offset > 0 then
    execute 'select exists (' || platform.merged_sql(
          ways, alias, '', filter, v_is_fenced, keys => case when not is_open then keys end, most => ' limit 1', word => ' union all ') || ')'
      into v_has_rows_before
      using v_filter, v_position, own;
  end if;

  perform set_config('sternpost.page', concat_ws(' ', v_has_rows_before, v_total), true);
  return v_rows;
end;
$$;

comment on function platform.pick_page(
  jsonb, platform.sort_key[], text, text, text, text[], text[], boolean, platform.way[], text[], text[], text[], regclass[], bigint[], text
) is 'The rows of a page of a list.';
grant execute on function platform.pick_page(
  jsonb, platform.sort_key[], text, text, text, text[], text[], boolean, platform.way[], text[], text[], text[], regclass[], bigint[], text
) to sternpost_caller, sternpost_code;
