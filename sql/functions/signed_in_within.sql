-- Whether the caller showed a credential within that time; if the identity has a second factor, only that one counts. The
-- access token tells. False for a machine's key and for an anonymous caller. Stays inlinable.
create or replace function platform.signed_in_within(span interval) returns boolean
language sql
stable
parallel safe
security invoker
as $$
  select coalesce(
    to_timestamp(nullif(split_part(current_setting('sternpost.token', true), ' ', 3), '')::bigint) > now() - span,
    false
  );
$$;

comment on function platform.signed_in_within(interval) is 'Whether the caller showed a credential within that time.';
grant execute on function platform.signed_in_within(interval) to sternpost_caller, sternpost_code;
