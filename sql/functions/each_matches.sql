-- Whether each of several texts matches a regular expression, for the checks of array columns.
create or replace function platform.each_matches(texts text[], pattern text) returns boolean
language sql
immutable
parallel safe
security invoker
as $$
  select coalesce(bool_and(item ~ pattern), true) from unnest(texts) as item;
$$;

comment on function platform.each_matches(text[], text) is 'Whether each of several texts matches a regular expression.';
grant execute on function platform.each_matches(text[], text) to sternpost_caller, sternpost_code;
