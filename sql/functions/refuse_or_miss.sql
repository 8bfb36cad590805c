-- For update and delete, if row security has returned no row: the function of the action looks again without it and
-- says whether the row exists.
create or replace function platform.refuse_or_miss(is_there boolean) returns void
language plpgsql
volatile
security invoker
as $$
begin
  perform platform.require_caller();
  if is_there then
    raise exception 'not authorized to access' using errcode = 'SP403';
  end if;
  raise exception 'record not found' using errcode = 'SP404';
end;
$$;

comment on function platform.refuse_or_miss(boolean) is 'Ends the call: the row is refused, or does not exist.';
grant execute on function platform.refuse_or_miss(boolean) to sternpost_caller, sternpost_code;
