-- Refuses a caller whose identity was looked for and is gone. Only such a caller gets this answer.
create or replace function platform.refuse_caller() returns void
language plpgsql
volatile
security invoker
as $$
begin
  raise exception 'the identity does not exist' using errcode = 'SP401';
end;
$$;

comment on function platform.refuse_caller() is 'Ends the call: the caller''s identity does not exist any more.';
grant execute on function platform.refuse_caller() to sternpost_caller, sternpost_code;
