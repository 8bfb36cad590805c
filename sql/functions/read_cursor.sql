-- The position that input.after or input.before holds: the sort values, as they go over the wire. Each is in the form in which
-- platform.cursor wrote it, so that the statement's casts cannot fail, nor read more into a value ('infinity', 'now').
--
-- A cursor that cannot be read is the caller's mistake, hence the block: decoding, parsing and the casts raise 22xxx, and
-- arrays nested too deep 54xxx.
create or replace function platform.read_cursor(input jsonb, action text, keys platform.sort_key[]) returns jsonb
language plpgsql
stable
security invoker
as $$
declare
  v_name text := case when input ? 'after' then 'after' else 'before' end;
  v_text text := input->>v_name;
  v_position jsonb;
  v_value jsonb;
  v_is_good boolean;
begin
  begin
    if v_text ~ '^[A-Za-z0-9_-]+$' then
      v_position := convert_from(
        decode(rpad(translate(v_text, '-_', '+/'), (length(v_text) + 3) / 4 * 4, '='), 'base64'),
        'UTF8'
      );
      v_is_good := jsonb_typeof(v_position) = 'array'
        and jsonb_array_length(v_position) = cardinality(keys) + 2
        and v_position->0 = '1'
        and v_position->1 = to_jsonb(platform.list_mark(action, keys));
    end if;

    for i in 1 .. cardinality(keys) loop
      exit when v_is_good is not true;
      v_value := v_position->(i + 1);
      if v_value = 'null' then
        v_is_good := keys[i].is_nullable;
      else
        case keys[i].type
          when 'boolean' then
            v_is_good := jsonb_typeof(v_value) = 'boolean';
          when 'bigint' then
            v_is_good := jsonb_typeof(v_value) = 'number' and (v_value #>> '{}')::bigint is not null;
          when 'numeric' then
            v_is_good := jsonb_typeof(v_value) = 'number';
          when 'text' then
            v_is_good := jsonb_typeof(v_value) = 'string';
          when 'date' then
            v_is_good := jsonb_typeof(v_value) = 'string'
              and v_value #>> '{}' ~ '^\d{4}-\d\d-\d\d$'
              and (v_value #>> '{}')::date is not null;
          when 'timestamptz' then
            v_is_good := jsonb_typeof(v_value) = 'string'
              and v_value #>> '{}' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$'
              and (v_value #>> '{}')::timestamptz is not null;
          when 'interval' then
            v_is_good := jsonb_typeof(v_value) = 'string'
              and v_value #>> '{}' ~ '^P[-\dYMDTHS.]+$'
              and (v_value #>> '{}')::interval is not null;
        end case;
      end if;
    end loop;
  exception
    when data_exception or program_limit_exceeded then
      v_is_good := false;
  end;

  if v_is_good is not true then
    perform platform.require_caller();
    raise exception 'one or more errors found validating request object' using
      errcode = 'SP400',
      detail = json_build_object(
        'errors', json_build_array(json_build_object('field', v_name, 'error', 'is not a cursor of this list'))
      );
  end if;

  return v_position - 0 - 0;
end;
$$;

comment on function platform.read_cursor(jsonb, text, platform.sort_key[]) is 'The position in a cursor of the input.';
grant execute on function platform.read_cursor(jsonb, text, platform.sort_key[]) to sternpost_caller, sternpost_code;
