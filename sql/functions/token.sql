-- What is known of the access token of the call: when it was issued, in seconds, and the name of its sign-in. Null for a
-- machine's key and for an anonymous caller.
create or replace function platform.token() returns text
language sql
stable
parallel safe
security invoker
as $$
  select nullif(current_setting('sternpost.token', true), '');
$$;

comment on function platform.token() is 'The access token of this transaction: when it was issued, and its sign-in.';
grant execute on function platform.token() to sternpost_caller, sternpost_code;
