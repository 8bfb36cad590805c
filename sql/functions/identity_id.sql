-- The caller's identity. Stays inlinable: invoker rights, one statement, no set clause. Policies call it as a sub-select, so that it runs
-- once per statement and not per row.
create or replace function platform.identity_id() returns text
language sql
stable
parallel safe
security invoker
as $$
  select nullif(current_setting('sternpost.identity_id', true), '');
$$;

comment on function platform.identity_id() is 'The identity bound to this transaction; null when anonymous.';
grant execute on function platform.identity_id() to sternpost_caller, sternpost_code;
