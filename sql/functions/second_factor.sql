-- Whether the sign-in of the caller was begun or raised with a second factor. The access token tells. False for a machine's
-- key and for an anonymous caller. Stays inlinable.
create or replace function platform.second_factor() returns boolean
language sql
stable
parallel safe
security invoker
as $$
  select split_part(current_setting('sternpost.token', true), ' ', 4) is not distinct from 'mfa';
$$;

comment on function platform.second_factor() is 'Whether the caller has shown a second factor.';
grant execute on function platform.second_factor() to sternpost_caller, sternpost_code;
