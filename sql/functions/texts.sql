-- The elements of a JSON array as texts. If a statement is planned with its parameters, Postgres knows the elements
-- too, and estimates how many rows have one of them; for a sub-select it could not. So this is not in language sql,
-- which would be inlined as a sub-select.
create or replace function platform.texts(list jsonb) returns text[]
language plpgsql
immutable
strict
parallel safe
security invoker
as $$
begin
  return array(select jsonb_array_elements_text(list));
end;
$$;

comment on function platform.texts(jsonb) is 'The elements of a JSON array as texts.';
grant execute on function platform.texts(jsonb) to sternpost_caller, sternpost_code;
