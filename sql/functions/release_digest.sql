-- The digest of a release, by which migrations name the release that they follow and the one that they make.
create or replace function platform.release_digest(manifest text, description text) returns text
language sql
immutable
security invoker
as $$
  select left(encode(sha256(convert_to(manifest || chr(10) || description, 'UTF8')), 'hex'), 32);
$$;

comment on function platform.release_digest(text, text) is 'The digest of a release.';
