-- The condition for rows beyond a position, as SQL for a statement that receives the position as $2. Of the position it looks
-- only at which values are null: no value becomes part of the text. Null is last ascending, first descending. The first conjunct
-- repeats the range of the first key, by which an index finds the place.
create or replace function platform.beyond_sql(keys platform.sort_key[], backwards boolean, place jsonb) returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_key platform.sort_key;
  v_is_descending boolean;
  v_is_null boolean;
  v_value text;
  v_same text := '';
  v_beyond text := '';
  v_range text := '';
begin
  for i in 1 .. cardinality(keys) loop
    v_key := keys[i];
    v_is_descending := v_key.is_descending <> backwards;
    v_is_null := place->(i - 1) = 'null';
    v_value := format('($2->>%s)::%s', i - 1, v_key.type);

    if i = 1 and not v_is_null and (v_is_descending or not v_key.is_nullable) then
      v_range := v_key.expression || case when v_is_descending then ' <= ' else ' >= ' end || v_value || ' and ';
    elsif i = 1 and v_is_null and not v_is_descending then
      v_range := v_key.expression || ' is null and ';
    end if;

    v_beyond := v_beyond || case when i > 1 then ' or ' else '' end || '(' || v_same || case
      when v_is_null and v_is_descending then v_key.expression || ' is not null'
      when v_is_null then 'false'
      when v_is_descending then v_key.expression || ' < ' || v_value
      when v_key.is_nullable then '(' || v_key.expression || ' > ' || v_value || ' or ' || v_key.expression || ' is null)'
      else v_key.expression || ' > ' || v_value
    end || ')';
    v_same := v_same || v_key.expression || case when v_is_null then ' is null' else ' = ' || v_value end || ' and ';
  end loop;

  return v_range || '(' || v_beyond || ')';
end;
$$;

comment on function platform.beyond_sql(platform.sort_key[], boolean, jsonb) is 'The rows beyond a position, as SQL.';
grant execute on function platform.beyond_sql(platform.sort_key[], boolean, jsonb) to sternpost_caller;
