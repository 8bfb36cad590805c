-- The shape of a stored file, for the checks of columns. Contents are kept elsewhere, under the key.
create or replace function platform.is_file(file jsonb) returns boolean
language sql
immutable
parallel safe
security invoker
as $$
  select
    jsonb_typeof(file) = 'object'
    and jsonb_typeof(file->'key') = 'string'
    and jsonb_typeof(file->'filename') = 'string'
    and jsonb_typeof(file->'contentType') = 'string'
    and jsonb_typeof(file->'size') = 'number';
$$;

comment on function platform.is_file(jsonb) is 'Whether a value has the shape of a stored file.';
grant execute on function platform.is_file(jsonb) to sternpost_caller, sternpost_code;
