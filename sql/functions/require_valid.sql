-- Reports all failed validation rules of an action at once. Takes one entry per rule, in order of declaration: its message if the
-- rule is false, else null. Rules of a model are CHECK constraints instead.
create or replace function platform.require_valid(messages text[]) returns void
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
        select json_build_object('errors', json_agg(json_build_object('code', 'validate', 'error', failed.message) order by failed.place))
        from unnest(messages) with ordinality as failed (message, place)
        where failed.message is not null
      );
  end if;
end;
$$;

comment on function platform.require_valid(text[]) is 'Ends the call with all messages that are not null.';
grant execute on function platform.require_valid(text[]) to sternpost_caller, sternpost_code;
