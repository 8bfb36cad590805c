-- The beginning of a text as startsWith looks for it: without regard to case. By code point (collate "C") all texts of one
-- beginning are together, and so they do in the indexes that lists have for the fields they find in this way. Cut, so that an
-- index can hold that of any text. Stays inlinable.
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
