-- For an update or delete of many rows. Takes the ids that the rows of the request pin.
create or replace function platform.refuse_twice(ids text[]) returns void
language plpgsql
immutable
security invoker
as $$
declare
  v_again bigint := (
    select min(later.place)
    from unnest(ids) with ordinality as later (id, place)
    where array_position(ids, later.id) < later.place
  );
begin
  if v_again is not null then
    raise exception 'one or more errors found validating request object' using
      errcode = 'SP400',
      detail = json_build_object('errors', json_build_array(
        json_build_object('field', 'rows[' || v_again - 1 || ']', 'code', 'twice', 'error', 'is the same row as one before it')
      ));
  end if;
end;
$$;

comment on function platform.refuse_twice(text[]) is 'Ends a call that names a row twice.';
grant execute on function platform.refuse_twice(text[]) to sternpost_caller;
