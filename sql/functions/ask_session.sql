-- For rules that ask what the caller has shown to sign in, and that refuse the call before a row is looked for. needs says
-- what the caller has to show for them to admit the call or to look at a row; null if nothing would help. Neither an
-- anonymous caller nor a machine can show anything.
create or replace function platform.ask_session(needs text) returns void
language plpgsql
stable
security invoker
as $$
begin
  if needs is not null and platform.token() is not null then
    perform platform.require_caller();
    raise exception 'the caller must show a credential again' using
      errcode = 'SP405',
      detail = jsonb_build_object('needs', needs);
  end if;
end;
$$;

comment on function platform.ask_session(text) is 'Ends the call of a caller who has to show something first.';
grant execute on function platform.ask_session(text) to sternpost_caller, sternpost_code;
