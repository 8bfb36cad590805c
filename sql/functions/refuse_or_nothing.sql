-- For get, once row security has yielded no row: the caller looks again without it and says what is there. A get that finds
-- nothing answers nothing, where an update or a delete ends by platform.refuse_or_miss.
create or replace function platform.refuse_or_nothing(is_there boolean) returns void
language plpgsql
stable
security invoker
as $$
begin
  perform platform.require_caller();
  if is_there then
    raise exception 'not authorized to access' using errcode = 'SP403';
  end if;
end;
$$;

comment on function platform.refuse_or_nothing(boolean) is 'Ends the call on a row that is there but refused.';
grant execute on function platform.refuse_or_nothing(boolean) to sternpost_caller, sternpost_code;
