-- A secret that the schema declares. Policies call it as a sub-select. It must not be part of a result.
create or replace function platform.secret(name text) returns text
language sql
stable
parallel safe
security invoker
as $$
  select coalesce(current_setting('sternpost.secrets.' || name, true), '');
$$;

comment on function platform.secret(text) is 'A declared secret.';
grant execute on function platform.secret(text) to sternpost_caller, sternpost_code;
