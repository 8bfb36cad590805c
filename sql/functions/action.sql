-- What policies branch on. A setting that was local to an earlier transaction reads as '', one that was never set as null.
--
-- Immutable, which is not true of the setting but of every statement that meets a policy: it is in the function of one
-- action, which has entered it before. So the planner evaluates this once, when it makes the statement's plan, and of a policy
-- keeps the branch of that action alone. Were it stable, each call would set up the branches of all actions. Two duties follow:
-- policies call it bare, not as a sub-select; and custom code, whose functions keep their plans from one action to the next,
-- runs as sternpost_code, whose policies do not call it at all.
--
-- In language sql the planner would read its body anew for each plan: it cannot put a stable expression in the place of an immutable
-- call.
create or replace function platform.action() returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
begin
  return nullif(current_setting('sternpost.action', true), '');
end;
$$;

comment on function platform.action() is 'The action this transaction runs; null outside of one.';
grant execute on function platform.action() to sternpost_caller, sternpost_code;
