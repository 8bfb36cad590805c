-- Merges several queries into one. Each of them finds rows in a way of its own, and gets the same additions and the same end. An
-- empty text is left out. A null makes the result null, and Postgres refuses to run that. The queries are made of fragments of
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
