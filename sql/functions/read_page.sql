-- The rows of a page of a list whose rules are decided before any row is read, so that row security does not hide any.
-- A page from the front is read directly, under row security. The rows of any other page are picked first, by
-- platform.pick_page, and so are those of every page if `picks`. The reason: under row security Postgres does not have
-- statistics for an operator that is not leakproof, so it does not see that an index of that column would be the better
-- start.
--
-- `kind` is a value of the row type of the table; only its type matters. `conditions` and keys are made of fragments
-- fixed at compile time, never of text from a request.
create or replace function platform.read_page(
  kind anyelement,
  input jsonb,
  keys platform.sort_key[],
  alias text,
  conditions text,
  picks boolean default false
) returns setof anyelement
language plpgsql
stable
security invoker
as $$
declare
  v_table text := quote_ident(alias);
  v_told text; -- an assignment costs a tenth of what a perform does
begin
  if picks or input ?| '{last,before,position,offset,totalCount}' then
    return query execute
      'select ' || v_table || '.* from unnest($1) with ordinality as list__page (id, place) join app.' || v_table
        || ' on ' || v_table || '.id = list__page.id order by list__page.place'
      using platform.pick_page(input, keys, alias, v_table || '.id', array[' from related.' || v_table || conditions]);
  else
    v_told := set_config('sternpost.page', 'f', true);
    return query execute
      'select ' || v_table || '.* from app.' || v_table || conditions || ' order by ' || platform.order_sql(keys, false) || ' limit $2'
      using input->'where', coalesce(input->>'first', input->>'limit', '50')::bigint + 1;
  end if;
end;
$$;

comment on function platform.read_page(anyelement, jsonb, platform.sort_key[], text, text, boolean)
  is 'The rows of a page of a list whose rules are decided before any row is read.';
grant execute on function platform.read_page(anyelement, jsonb, platform.sort_key[], text, text, boolean) to sternpost_caller;
