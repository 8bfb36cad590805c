-- Hands an input that the rules of an action mention to its policies, which read it with platform.input. An action binds all of
-- them before it touches a row. A mark tells an empty text from null. Inlinable, like platform.enter.
create or replace function platform.bind_input(name text, value text) returns text
language sql
volatile
security invoker
as $$
  select set_config('sternpost.inputs.' || name, coalesce('=' || value, ''), true);
$$;

comment on function platform.bind_input(text, text) is 'Binds an input to this transaction, for the policies that read it.';
grant execute on function platform.bind_input(text, text) to sternpost_caller;
