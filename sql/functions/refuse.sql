-- For rules that are decided before a row is looked for. After a row was looked for, platform.refuse_or_miss
-- distinguishes the two outcomes.
create or replace function platform.refuse() returns void
language plpgsql
stable
security invoker
as $$
begin
  perform platform.require_caller();
  raise exception 'not authorized to access' using errcode = 'SP403';
end;
$$;

comment on function platform.refuse() is 'Ends the call: the caller may not do this.';
grant execute on function platform.refuse() to sternpost_caller, sternpost_code;
