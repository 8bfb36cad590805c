-- The length of the longest of several texts, for the checks of array columns. Without texts it is 0.
create or replace function platform.longest(texts text[]) returns integer
language sql
immutable
parallel safe
security invoker
as $$
  select coalesce(max(char_length(item)), 0) from unnest(texts) as item;
$$;

comment on function platform.longest(text[]) is 'The length in characters of the longest of several texts; 0 if there is none.';
grant execute on function platform.longest(text[]) to sternpost_caller, sternpost_code;
