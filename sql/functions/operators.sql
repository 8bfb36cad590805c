-- Flattens the filter of a list into its operators: {"state":{"equals":"Done"}} is state.equals with "Done". An operand that is
-- itself an object (any, all) is a further step; an array or a scalar ends the path. The paths choose among fragments fixed at
-- compile time and must not become SQL themselves.
create or replace function platform.operators(filter jsonb) returns table (path text, operand jsonb)
language sql
immutable
parallel safe
security invoker
as $$
  with recursive steps as (
    select key as path, value as operand from jsonb_each(filter)
    union all
    select steps.path || '.' || member.key, member.value
    from steps
    cross join jsonb_each(case when jsonb_typeof(steps.operand) = 'object' then steps.operand else '{}' end) as member
  )
  select steps.path, steps.operand from steps where jsonb_typeof(steps.operand) <> 'object';
$$;

comment on function platform.operators(jsonb) is 'The operators of a filter, one row each.';
grant execute on function platform.operators(jsonb) to sternpost_caller, sternpost_code;
