-- One facet of a list, as SQL for platform.facets: a summary of a column of list__values over the matching rows. If it
-- counts values, its entries are the first by value, up to 1000 and up to 1 MiB of text. Null is an entry too, and the
-- last. The arguments are fixed at compile time and never text from a request.
create or replace function platform.facet_sql(form text, value text, matching text) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select format(
    case form
      when 'values' then
        $sql$(
          select coalesce('[' || string_agg(row_to_json(entry)::text, ',' order by counted.value) || ']', '[]')::json
          from (
            select %1$s as value, count(*) as count, sum(octet_length(%1$s::text)) over (order by %1$s nulls first) as size
            from list__values
            where %2$s
            group by %1$s
            order by %1$s nulls first
            limit 1000
          ) as counted
          cross join lateral (select counted.value, counted.count) as entry
          where coalesce(counted.size, 0) <= 1048576
        )$sql$
      when 'numbers' then
        $sql$(
          select row_to_json(range)
          from (
            select
              trim_scale(min(%1$s)) as min,
              trim_scale(max(%1$s)) as max,
              trim_scale(platform.quotient(sum(%1$s), count(%1$s))) as avg
            from list__values
            where %2$s
          ) as range
        )$sql$
      when 'durations' then
        $sql$(
          select row_to_json(range)
          from (
            select
              platform.iso_duration(min(%1$s)) as min,
              platform.iso_duration(max(%1$s)) as max,
              platform.iso_duration(platform.mean_duration(
                sum(12 * extract(year from %1$s) + extract(month from %1$s)),
                sum(extract(day from %1$s)),
                sum(3600 * extract(hour from %1$s) + 60 * extract(minute from %1$s) + extract(second from %1$s)),
                count(%1$s)
              )) as avg
            from list__values
            where %2$s
          ) as range
        )$sql$
      when 'moments' then
        $sql$(
          select row_to_json(range)
          from (
            select platform.iso(min(%1$s)) as min, platform.iso(max(%1$s)) as max from list__values where %2$s
          ) as range
        )$sql$
      when 'days' then
        $sql$(
          select row_to_json(range)
          from (select min(%1$s) as min, max(%1$s) as max from list__values where %2$s) as range
        )$sql$
    end,
    value,
    matching
  );
$$;

comment on function platform.facet_sql(text, text, text) is 'One facet of a list, as SQL.';
grant execute on function platform.facet_sql(text, text, text) to sternpost_caller;
