-- Whether an access token is over, for an identity whose tokens are valid from a moment on. Of a token issued before
-- that, or within a minute after it, the sign-in decides: a server may issue a token a little later than it asks for
-- it, and clocks differ. It stays inlinable, so that only such a token costs a look for its sign-in.
create or replace function platform.is_over(valid_from timestamptz, identity_id text, token text) returns boolean
language sql
stable
security invoker
as $$
  select to_timestamp(split_part(token, ' ', 1)::double precision) <= valid_from + interval '1 minute'
    and not platform.is_signed_in(identity_id, token);
$$;

comment on function platform.is_over(timestamptz, text, text) is 'Whether an access token is over; null for a machine''s key.';
grant execute on function platform.is_over(timestamptz, text, text) to sternpost_caller, sternpost_code;
