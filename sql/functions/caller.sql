-- The caller, unless its identity is gone or its access token is over; then nothing. Stays inlinable.
set check_function_bodies = off; -- the view is generated later
create or replace function platform.caller(identity_id text, token text) returns setof text
language sql
stable
security invoker
as $$
  select identity.id
  from related.identity
  where identity.id = caller.identity_id
    and not exists (
      select
      from platform.caller_validity as validity
      where validity.identity_id = identity.id
        and platform.is_over(validity.valid_from, identity.id, caller.token)
    );
$$;

comment on function platform.caller(text, text) is 'The caller, unless its identity is gone or its access token is over.';
grant execute on function platform.caller(text, text) to sternpost_caller, sternpost_code;
reset check_function_bodies;
