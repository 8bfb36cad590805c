-- A Timestamp as it goes over the wire: UTC, three digits below the second. Digits beyond are cut off.
create or replace function platform.iso(moment timestamptz) returns text
language sql
stable
parallel safe
security invoker
as $$
  select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
$$;

comment on function platform.iso(timestamptz) is 'A Timestamp as it goes over the wire.';
grant execute on function platform.iso(timestamptz) to sternpost_caller, sternpost_code;
