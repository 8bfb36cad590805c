-- The conditions of a request's operators on the rows of a list, as SQL to add to a statement after `where`. `filters`
-- has for each field that can be filtered by its kind and its value in the statement: {"dueOn": ["Date",
-- "invoice.due_on"]}. A value behind relations also has the rows that contain it: {"customer.name": ["Text",
-- "customer.name", "from related.customer where customer.id = invoice.customer_id"]}. The kind ends in ? if the value
-- may be null. Text[] is an array as a whole, and all Text is an array whose elements must all satisfy the condition.
--
-- Conditions that one child of the row has to satisfy together are a group: {"lines.text": ["Text", "line.text", null,
-- 1], "1": ["from related.line where line.invoice_id = invoice.id", 0]}. The group is in another one, 0 for none.
-- `texts` has further conditions of each group.
--
-- Operands come from the filter, $1. No part of a request becomes SQL except the paths of its operators, and of these
-- only a path that names a field of `filters` and an operator of platform.operators, which are both fixed when the
-- schema is compiled. Any other path is an error, so that no operator is ever skipped, unless its field is null or the
-- path is in `elsewhere`, where the caller makes the condition. If `elsewhere` is null, another call looks at all paths.
--
-- Expressions are few and short for most operators: Postgres prepares each one again in every transaction.
create or replace function platform.filter_sql(
  input jsonb,
  filters jsonb,
  elsewhere text[] default '{}',
  texts text[] default '{}'
) returns text
language plpgsql
immutable
parallel safe
security invoker
as $$
declare
  v_conditions text := '';
  v_path text;
  v_operator text;
  v_filter jsonb;
  v_condition text;
  v_kind text;
  v_value text;
  v_rows text;
  v_operators jsonb;
  v_operand text; -- its path in the filter
  v_group int;
begin
  foreach v_path in array coalesce(string_to_array(input->>'operators', ','), platform.operator_paths(input)) loop
    v_operator := split_part(v_path, '.', -1);
    v_filter := filters->left(v_path, -1 - length(v_operator));
    if v_operator = 'oneOf' then
      if jsonb_array_length(input#>string_to_array('where.' || v_path, '.')) = 1 then
        -- An index may have the rows of one value in the order of the list. Those of several values Postgres would sort.
        if platform.operators()->replace(rtrim(v_filter->>0, '?'), 'all ', '')->0 ? v_operator then
          v_operator := 'equals';
          v_path := v_path || '.0';
        end if;
      end if;
    end if;
    v_condition := format(
      platform.operators()->(v_filter->>0)->0->>v_operator, v_filter->>1, string_to_array(v_path, '.')::text);

    if v_condition is null or v_filter->2 is not null then
      -- The field is not of this call, its value may be null or is behind relations, all elements must match, or the
      -- path is unknown.
      continue when v_filter = 'null' or v_filter is null and (elsewhere is null or v_path = any (elsewhere));
      v_kind := rtrim(v_filter->>0, '?');
      v_value := v_filter->>1;
      v_rows := v_filter->>2;
      v_operand := string_to_array(v_path, '.')::text;
      if v_kind like 'all %' then
        v_operators := platform.operators()->substr(v_kind, 5)->0;
        v_condition := 'not exists (select from unnest(' || v_value || ') as list__element (value) where not ('
          || format(v_operators->>v_operator, 'list__element.value', v_operand) || '))';
        if v_kind <> v_filter->>0 then
          v_condition := v_condition || ' and ' || v_value || ' is not null'; -- null has no elements, yet all matches none of it
        end if;
      else
        v_operators := platform.operators()->v_kind;
        if v_kind <> v_filter->>0 and v_operators->1 ? v_operator then
          -- A row without a value may match.
          v_value := coalesce('(select ' || v_value || ' ' || v_rows || ')', v_value);
          v_rows := null;
          v_condition := format(v_operators->1->>v_operator, v_value, v_operand);
        else
          v_condition := format(v_operators->0->>v_operator, v_value, v_operand);
        end if;
      end if;
      v_condition := coalesce('exists (select ' || v_rows || ' and ' || v_condition || ')', v_condition);
      if v_condition is null then
        raise exception 'this list has no operator "%"', v_path using errcode = 'invalid_parameter_value';
      end if;
      v_group := v_filter->>3;
    end if;
    if v_group > 0 then
      texts[v_group] := texts[v_group] || ' and ' || v_condition;
      v_group := 0;
    else
      v_conditions := v_conditions || ' and ' || v_condition;
    end if;
  end loop;

  for v_number in reverse cardinality(texts) .. 1 loop
    continue when texts[v_number] = '';
    v_filter := filters->v_number::text;
    v_condition := ' and exists (select ' || (v_filter->>0) || texts[v_number] || ')';
    v_group := v_filter->>1;
    if v_group > 0 then
      texts[v_group] := texts[v_group] || v_condition;
    else
      v_conditions := v_conditions || v_condition;
    end if;
  end loop;
  return v_conditions;
end;
$$;

comment on function platform.filter_sql(jsonb, jsonb, text[], text[]) is 'The conditions of a request''s operators, as SQL.';
grant execute on function platform.filter_sql(jsonb, jsonb, text[], text[]) to sternpost_caller, sternpost_code;
