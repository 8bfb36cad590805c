-- The distinct values by which a list finds rows: what a caller has in common with rows, such as the teams it is a
-- member of. Null tells that there are more than so many.
create or replace function platform.few(list anyarray, most integer) returns anyarray
language sql
immutable
parallel safe
security invoker
as $$
  select case
    when cardinality(list) > most then null
    else array(select distinct member.value from unnest(list) as member (value))
  end;
$$;

comment on function platform.few(anyarray, integer) is 'The distinct values of a list; null if there are more than so many.';
grant execute on function platform.few(anyarray, integer) to sternpost_caller;
