-- The job or subscriber whose code runs in this transaction; null in a call. Policies for custom code ask it at run time, not
-- when a plan is made, since helpers of the code keep their plans.
create or replace function platform.job() returns text
language sql
stable
security invoker
as $$
  select nullif(current_setting('sternpost.job', true), '');
$$;

comment on function platform.job() is 'The job or subscriber whose code runs in this transaction; null in a call.';
grant execute on function platform.job() to sternpost_caller, sternpost_code;
