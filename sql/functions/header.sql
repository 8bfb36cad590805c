-- A header of the request, by its snake form, for expressions that use it. Policies call it as a sub-select. Only
-- headers that the schema uses are there; any other reads as absent, which is null. A mark before the text tells an
-- empty header from an absent one.
create or replace function platform.header(name text) returns text
language sql
stable
parallel safe
security invoker
as $$
  select substr(nullif(current_setting('sternpost.headers.' || name, true), ''), 2);
$$;

comment on function platform.header(text) is 'A header of the request; null if it is absent.';
grant execute on function platform.header(text) to sternpost_caller, sternpost_code;
