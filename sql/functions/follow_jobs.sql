-- Makes platform.job the jobs of a release, platform.schedule their schedules, and platform.mail_template the mails that
-- code may send. Not granted to any role: only the installation of a release uses it.
create or replace function platform.follow_jobs(manifest json) returns void
language sql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
  delete from platform.mail_template;

  insert into platform.mail_template (name)
  select json_array_elements_text(coalesce(manifest->'mails', '[]'));

  delete from platform.job;

  insert into platform.job (name, run)
  select
    named->>'name',
    named->>'run'
  from json_array_elements(coalesce(manifest->'jobs', '[]')) as named;

  with named as (
    select
      job->>'name' as job,
      schedule->>'text' as text,
      coalesce(schedule->>'timeZone', '') as time_zone
    from json_array_elements(coalesce(manifest->'jobs', '[]')) as job
    cross join json_array_elements(coalesce(job->'schedules', '[]')) as schedule
  ), gone as (
    delete from platform.schedule
    where (schedule.job, schedule.text, schedule.time_zone) not in (select named.job, named.text, named.time_zone from named)
  )
  insert into platform.schedule (job, text, time_zone)
  select named.job, named.text, named.time_zone from named
  on conflict do nothing;
$$;

comment on function platform.follow_jobs(json) is 'Makes platform.job the jobs of a release, and platform.mail_template its mails.';
