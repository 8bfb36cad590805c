-- Makes a release the newest, given by its differences from the release before. It is the last step of a migration that
-- follows another one. `before` and `after` are the digests of the two releases; `manifest` and `description` are the
-- patches that platform.merged takes. Not granted to any role.
create or replace function platform.install_release_change(
  source text,
  before text,
  after text,
  manifest json,
  description json
) returns bigint
language plpgsql
volatile
security invoker
as $$
declare
  v_old platform.release;
  v_found text;
  v_manifest text;
  v_description text;
begin
  -- As in platform.install_release: the newest release has to stay the newest.
  lock table platform.release in share row exclusive mode;

  select * into v_old from platform.release order by number desc limit 1;
  v_found := platform.release_digest(v_old.manifest::text, v_old.description::text);
  if before is distinct from v_found then
    raise exception 'the installed release is not the one that this migration follows' using
      errcode = 'object_not_in_prerequisite_state',
      detail = format('It follows the release with the digest %s; the newest one has %s.', before, coalesce(v_found, 'none')),
      hint = 'A release was installed from outside of the migrations. Run: sternpost migrate status';
  end if;

  v_manifest := platform.merged(v_old.manifest, manifest);
  v_description := platform.merged(v_old.description, description);
  if after is distinct from platform.release_digest(v_manifest, v_description) then
    raise exception 'the release that this migration makes is not the one that it names' using
      errcode = 'object_not_in_prerequisite_state',
      hint = 'The record of the release in the file was changed. Make the migration again: sternpost migrate rebase';
  end if;

  return platform.install_release(source, v_manifest::json, v_description::json);
end;
$$;

comment on function platform.install_release_change(text, text, text, json, json) is
  'Makes a release the newest by what differs from the one before; returns its number.';
