-- The operators in the filter of a list, by their paths: {"state":{"equals":"Done"}} has state.equals. The path of an
-- operator whose operand is null ends in :null, and the path of an explicit input is its name. The paths choose among
-- fragments fixed at compile time and must not become SQL themselves.
--
-- The server has read the filter and gives them in input.operators. This is for any other caller: an operand that is
-- itself an object (any, all) is a further step; an array or a scalar ends the path.
create or replace function platform.operator_paths(input jsonb) returns text[]
language sql
immutable
parallel safe
security invoker
as $$
  with recursive steps as (
    select key as path, value as operand from jsonb_each(input->'where')
    union all
    select steps.path || '.' || member.key, member.value
    from steps
    cross join jsonb_each(case when jsonb_typeof(steps.operand) = 'object' then steps.operand else '{}' end) as member
  )
  select coalesce(array_agg(steps.path || case when steps.operand = 'null' then ':null' else '' end), '{}')
  from steps
  where jsonb_typeof(steps.operand) <> 'object';
$$;

comment on function platform.operator_paths(jsonb) is 'The operators of a list''s filter, by their paths.';
grant execute on function platform.operator_paths(jsonb) to sternpost_caller, sternpost_code;
