-- The values that lists look behind one by one, each once: what a caller has in common with rows, such as the teams it is a
-- member of. Null tells that there are too many: then a list goes through its order instead, where rows that so many values
-- admit are met soon.
create or replace function platform.few(list anyarray) returns anyarray
language sql
immutable
parallel safe
security invoker
as $$
  select case
    when cardinality(list) > 100 then null
    else array(select distinct member.value from unnest(list) as member (value))
  end;
$$;

comment on function platform.few(anyarray) is 'The values of a list, each once; null if they are many.';
grant execute on function platform.few(anyarray) to sternpost_caller;
