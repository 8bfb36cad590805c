-- The shape of stored files, for the checks of array columns: every element has it.
create or replace function platform.is_file(files jsonb[]) returns boolean
language sql
immutable
parallel safe
security invoker
as $$
  select coalesce(bool_and(platform.is_file(file) is true), true) from unnest(files) as file;
$$;

comment on function platform.is_file(jsonb[]) is 'Whether all values have the shape of a stored file.';
grant execute on function platform.is_file(jsonb[]) to sternpost_caller, sternpost_code;
