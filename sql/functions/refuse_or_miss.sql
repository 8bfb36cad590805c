-- For update and delete, if row security has returned no row: the function of the action looks again without it and
-- says whether the row exists.
create or replace function platform.refuse_or_miss(is_there boolean) returns void
language plpgsql
stable
security invoker
as $$
begin
  perform platform.refuse_or_nothing(is_there);
  perform platform.miss();
end;
$$;

comment on function platform.refuse_or_miss(boolean) is 'Ends the call: the row is refused, or does not exist.';
grant execute on function platform.refuse_or_miss(boolean) to sternpost_caller, sternpost_code;
