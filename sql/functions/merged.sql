-- A document of a release with the changes of a merge patch (RFC 7386), by which a migration says what differs. A list of
-- objects with names is merged as an object of them. Order counts: the members that the patch names come in its order, and
-- each other one stays behind the one that it followed. So a patch also names a member without a change, to tell where
-- it is. Each member has a line of its own if that is so in the patch.
create or replace function platform.merged(base json, patch json) returns text
language plpgsql
immutable
security invoker
as $$
declare
  v_is_list boolean := json_typeof(base) = 'array';
  v_line text := case when starts_with(patch::text, '{' || chr(10)) then chr(10) else '' end;
  v_members text;
begin
  if json_typeof(patch) <> 'object' or json_typeof(base) not in ('object', 'array') then
    return patch;
  end if;

  with
    named as (
      select key, value, place
      from json_each(patch) with ordinality as member (key, value, place)
    ),
    old as (
      select key, value, place
      from json_each(case when v_is_list then '{}' else base end) with ordinality as member (key, value, place)
      union all
      select value ->> 'name', value, place
      from json_array_elements(case when v_is_list then base else '[]' end) with ordinality as member (value, place)
    ),
    kept as (
      select
        old.key,
        case when named.key is null then old.value::text else platform.merged(old.value, named.value) end as value,
        named.place as named_place,
        old.place,
        count(named.place) over (order by old.place) as run -- of a member that is named, and those that follow it
      from old
      left join named on named.key = old.key
      where json_typeof(named.value) is distinct from 'null'
    ),
    members as (
      select key, value, max(named_place) over (partition by run) as named_place, place from kept
      union all
      select key, value::text, place, 0
      from named
      where json_typeof(value) <> 'null'
        and not exists (select from old where old.key = named.key)
    )
  select v_line || string_agg(
    case when v_is_list then '' else to_json(key) || ':' end || value,
    ',' || v_line
    order by named_place nulls first, place
  ) || v_line
  into v_members
  from members;

  v_members := coalesce(v_members, v_line || v_line);
  return case when v_is_list then '[' || v_members || ']' else '{' || v_members || '}' end;
end;
$$;

comment on function platform.merged(json, json) is 'A document with the changes of a merge patch.';
