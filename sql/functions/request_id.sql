-- Names the request in logs and in custom code. It has no part in any decision.
create or replace function platform.request_id() returns text
language sql
stable
parallel safe
security invoker
as $$
  select nullif(current_setting('sternpost.request_id', true), '');
$$;

comment on function platform.request_id() is 'The id of the request this transaction serves; null outside of one.';
grant execute on function platform.request_id() to sternpost_caller, sternpost_code;
