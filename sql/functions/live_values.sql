-- A value of the caller on which live answers depend, as an ordered list of texts; of a long list its digest.
create or replace function platform.live_values(list text[]) returns jsonb
language sql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
  select case
    when count(*) > 100 then to_jsonb(md5(string_agg(member, ',' order by member)))
    else coalesce(jsonb_agg(member order by member), '[]')
  end
  from (select distinct listed collate "C" from unnest(list) as listed where listed is not null) as all_members (member);
$$;

comment on function platform.live_values(text[]) is 'A value of the caller on which live answers depend.';
grant execute on function platform.live_values(text[]) to sternpost_caller, sternpost_code;
