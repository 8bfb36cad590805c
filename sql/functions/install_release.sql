-- Makes a release the newest and tells the servers when the transaction commits. It is the last step of a migration, by
-- the owner. Numbers have no gaps, so installers take turns. Not granted to any role.
create or replace function platform.install_release(source text, manifest json, description json) returns bigint
language plpgsql
volatile
security invoker
as $$
declare
  v_number bigint;
begin
  -- Readers continue; a second installer waits, and then sees this one's number.
  lock table platform.release in share row exclusive mode;

  insert into platform.release (number, source, manifest, description)
  select
    coalesce(max(release.number), 0) + 1,
    install_release.source,
    install_release.manifest,
    install_release.description
  from platform.release
  returning release.number into v_number;

  perform platform.follow_consumers(manifest);
  perform platform.follow_jobs(manifest);
  truncate platform.release_mark;
  perform platform.keep_catalog();
  perform platform.keep_rules('app', 'api');
  perform platform.announce(v_number);
  return v_number;
end;
$$;

comment on function platform.install_release(text, json, json) is 'Makes a release the newest; returns its number.';
