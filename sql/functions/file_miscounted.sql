-- Files whose number of holders differs from the number of fields that name them: first the number in platform.file,
-- then the number in the tables. The two are the same unless the triggers platform.tg_files did not run: a table or
-- column with files was dropped or truncated by hand, or rows were restored with triggers off. It reads every table
-- with files.
create or replace function platform.file_miscounted() returns table (key text, holders integer, named integer)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queries text;
begin
  -- The arguments of a trigger, which are the columns, each end with a null byte. The column may be gone; then there is
  -- nothing to count.
  select string_agg(
    format(
      case pg_attribute.atttypid
        when 'jsonb[]'::regtype then 'select file->>''key'' from %s cross join lateral unnest(%I) as file'
        else 'select %2$I->>''key'' from %1$s'
      end,
      pg_trigger.tgrelid::regclass,
      pg_attribute.attname
    ),
    ' union all '
  )
  into v_queries
  from pg_trigger
  join pg_attribute on pg_attribute.attrelid = pg_trigger.tgrelid
  where pg_trigger.tgfoid = 'platform.tg_files'::regproc
    and pg_attribute.atttypid in ('jsonb'::regtype, 'jsonb[]'::regtype)
    and position('\x00'::bytea || convert_to(pg_attribute.attname, 'UTF8') || '\x00'::bytea in '\x00'::bytea || pg_trigger.tgargs) > 0;

  return query execute format(
    'select
      coalesce(counted.key, named.key),
      coalesce(counted.holders, 0),
      coalesce(named.fields, 0)
    from platform.file as counted
    full join (
      select
        field.key collate "C" as key,
        count(*)::integer as fields
      from (%s) as field (key)
      where field.key is not null
      group by 1
    ) as named on named.key = counted.key
    where coalesce(counted.holders, 0) <> coalesce(named.fields, 0)
    order by 1',
    coalesce(v_queries, 'select null::text where false')
  );
end;
$$;

comment on function platform.file_miscounted() is 'Files whose number of holders differs from the number of fields that name them.';
grant execute on function platform.file_miscounted() to sternpost_server;
