-- Reports all failed validation rules of an action at once. Takes one entry per rule, in order of declaration: its message if the
-- rule is false, else null. fields has the path of the input that each is about, or null. Rules of a model are CHECK constraints instead.
create or replace function platform.require_valid(messages text[], fields text[] default null) returns void
language plpgsql
stable
security invoker
as $$
begin
  if array_remove(messages, null) <> '{}' then
    perform platform.require_caller();
    raise exception 'one or more validation rules failed' using
      errcode = 'SP400',
      detail = (
        select json_build_object('errors', json_agg(
          json_strip_nulls(json_build_object('field', fields[failed.place], 'code', 'validate', 'error', failed.message))
          order by failed.place
        ))
        from unnest(messages) with ordinality as failed (message, place)
        where failed.message is not null
      );
  end if;
end;
$$;

comment on function platform.require_valid(text[], text[]) is 'Ends the call with all messages that are not null.';
grant execute on function platform.require_valid(text[], text[]) to sternpost_caller, sternpost_code;
