-- The beginning of a text as startsWith looks for it: without regard to case. In the order of code points (collate "C")
-- all texts with one beginning are together, also in the indexes that lists have for such fields. It is cut, so that an
-- index can hold it for any text. Stays inlinable.
create or replace function platform.fold(value text) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select left(lower(value), 64);
$$;

comment on function platform.fold(text) is 'The beginning of a text without regard to case, for indexes.';
grant execute on function platform.fold(text) to sternpost_caller, sternpost_code;
