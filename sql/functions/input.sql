-- An input of the call as text, by its snake form, for rules that use it. Policies call it as a sub-select and cast it.
-- A mark before the text tells an empty text from null.
create or replace function platform.input(name text) returns text
language sql
stable
parallel safe
security invoker
as $$
  select substr(nullif(current_setting('sternpost.inputs.' || name, true), ''), 2);
$$;

comment on function platform.input(text) is 'An input of the call that its rules use; null if it is null or absent.';
grant execute on function platform.input(text) to sternpost_caller;
