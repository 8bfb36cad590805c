-- The action of this transaction, which policies branch on. A setting that was local to an earlier transaction reads as
-- '', and one that was never set as null.
--
-- It is declared immutable although the setting changes. No statement notices: a policy is only evaluated in the
-- function of one action, which has entered that action before. So the planner evaluates this once for each plan, and
-- keeps only the branch of that action. If it were stable, each call would set up the branches of all actions. This
-- needs two things. Policies call it bare, not as a sub-select. Custom code, whose functions keep their plans from one
-- action to the next, runs as sternpost_code, whose policies do not call it.
--
-- It is not in language sql, since the planner would then read its body for each plan: it cannot inline a stable
-- expression for an immutable call.
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
