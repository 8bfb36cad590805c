-- The elements of a JSON array as texts. Of a statement whose parameters are known when it is planned, Postgres then knows them too,
-- and with them how many rows have one of them; of a sub-select it knows nothing. Not in language sql, which would be one.
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
