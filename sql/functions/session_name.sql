-- The name of a sign-in in access tokens: the SHA-256 of its key, in base64url. It does not reveal the key. Stays
-- inlinable. Not granted to any role: only functions beside it use it.
create or replace function platform.session_name(key bytea) returns text
language sql
immutable
security invoker
as $$
  select translate(encode(sha256(key), 'base64'), '+/=', '-_');
$$;

comment on function platform.session_name(bytea) is 'The name of a sign-in in access tokens.';
