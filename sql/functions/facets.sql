-- The facets of a list, as the JSON of the answer, in one statement that reads each row once. As for platform.pick_page,
-- rows are found without row security, so that every condition may use an index. `columns` are those that are read of
-- them as list__rows, and `shown` is the query over list__rows that reads them under row security. For the i-th facet it
-- gives value_i and, if the list can be filtered by the field of the facet, own_i: whether the row satisfies that
-- filter. A row counts for a facet if it satisfies the filters on the fields of all other facets.
--
-- All of this is made of fragments fixed at compile time, never of text from a request: $1 is the filter, and $3 are
-- the values of the caller.
create or replace function platform.facets(
  input jsonb,
  facets platform.facet[],
  shown text,
  alias text,
  columns text,
  filter text,
  ways platform.way[],
  own text[] default '{}'
) returns text
language plpgsql
stable
security invoker
as $$
declare
  v_list text;
  v_facets text;
begin
  select
    string_agg(
      platform.facet_sql(
        facet.form,
        'list__values.value_' || facet.place,
        (
          select coalesce(string_agg('list__values.own_' || other.place, ' and ' order by other.place), 'true')
          from unnest(facets) with ordinality as other (name, form, is_filtered, place)
          where other.is_filtered and other.place <> facet.place
        )
      ) || ' as ' || quote_ident(facet.name),
      ', '
      order by facet.place
    )
  into v_list
  from unnest(facets) with ordinality as facet (name, form, is_filtered, place);

  execute 'with list__rows as (' || platform.merged_sql(ways, alias, columns, filter, true) || '), list__values as (' || shown || ') select row_to_json(told)::text from (select '
    || v_list || ') as told'
  into v_facets
  using input->'where', null::jsonb, own;
  return v_facets;
end;
$$;

comment on function platform.facets(jsonb, platform.facet[], text, text, text, text, platform.way[], text[])
  is 'The facets of a list.';
grant execute on function platform.facets(jsonb, platform.facet[], text, text, text, text, platform.way[], text[])
  to sternpost_caller;
