-- The difference between a caller who may not and one who is gone, asked only where it shows: an action whose rules prove that
-- the caller exists calls this before it says that there is nothing, and whatever ends a call calls it before. The view is
-- generated, so it is not there yet when this function is installed, and no call without caller may look at it.
create or replace function platform.require_caller() returns void
language plpgsql
volatile
security invoker
as $$
declare
  v_identity_id text := platform.identity_id();
begin
  if v_identity_id is not null then
    if not exists (select from related.identity where identity.id = v_identity_id) then
      perform platform.refuse_caller();
    end if;
  end if;
end;
$$;

comment on function platform.require_caller() is 'Ends the call of a caller whose identity does not exist any more.';
grant execute on function platform.require_caller() to sternpost_caller, sternpost_code;
