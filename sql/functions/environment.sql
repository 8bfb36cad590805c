-- A value of the server's environment that the schema declares. Policies call it as a sub-select.
create or replace function platform.environment(name text) returns text
language sql
stable
parallel safe
security invoker
as $$
  select coalesce(current_setting('sternpost.env.' || name, true), '');
$$;

comment on function platform.environment(text) is 'A declared value of the environment.';
grant execute on function platform.environment(text) to sternpost_caller, sternpost_code;
