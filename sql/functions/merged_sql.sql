-- One query of several, each of which finds rows in a way of its own: what is added to each, then the end of each, are put behind
-- it. An empty text is not a way; a null one makes the whole null, which Postgres refuses to run. The queries are made of fragments of
-- the schema, never of text from a request.
create or replace function platform.merged_sql(ways text[], ends text[], added text, word text) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select case
    when array_position(ways, null) is null then
      string_agg('(' || part.way || added || part.ending || ')', ' ' || word || ' ' order by part.place)
        filter (where part.way <> '')
  end
  from unnest(ways, ends) with ordinality as part (way, ending, place);
$$;

comment on function platform.merged_sql(text[], text[], text, text) is 'One query of several, as SQL.';
grant execute on function platform.merged_sql(text[], text[], text, text) to sternpost_caller;
