-- Refuses a caller whose identity is gone, or whose access token is over. Only such a caller gets this answer.
create or replace function platform.refuse_caller(identity_id text default null) returns void
language plpgsql
stable
security invoker
as $$
begin
  perform platform.require_newest();
  if exists (select from related.identity where identity.id = refuse_caller.identity_id) then
    raise exception 'the access token is not valid' using errcode = 'SP401';
  end if;
  raise exception 'the identity does not exist' using errcode = 'SP401';
end;
$$;

comment on function platform.refuse_caller(text) is 'Ends the call: the caller''s identity is gone, or its access token is over.';
grant execute on function platform.refuse_caller(text) to sternpost_caller, sternpost_code;
