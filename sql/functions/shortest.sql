-- The length of the shortest of several texts, for the checks of array columns. Without texts it is null, so that every
-- limit holds.
create or replace function platform.shortest(texts text[]) returns integer
language sql
immutable
parallel safe
security invoker
as $$
  select min(char_length(item)) from unnest(texts) as item;
$$;

comment on function platform.shortest(text[]) is 'The length in characters of the shortest of several texts; null if there is none.';
grant execute on function platform.shortest(text[]) to sternpost_caller, sternpost_code;
