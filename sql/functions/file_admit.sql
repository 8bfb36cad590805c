-- Lets a caller store files for a call, unless failed calls of that caller have stored too much within the hour. The
-- detail then says in how many seconds the hour ends.
create or replace function platform.file_admit(caller text, most bigint) returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ends timestamptz;
begin
  select file_failure.since + interval '1 hour'
  into v_ends
  from platform.file_failure
  where file_failure.caller = file_admit.caller
    and file_failure.bytes >= most
    and file_failure.since > now() - interval '1 hour';

  if v_ends is not null then
    raise exception 'too many files of calls that failed' using
      errcode = 'SP429',
      detail = json_build_object('retryAfter', greatest(ceil(extract(epoch from v_ends - clock_timestamp())), 1));
  end if;
end;
$$;

comment on function platform.file_admit(text, bigint) is 'Lets a caller store files, or refuses a caller whose failed calls have stored too much.';
grant execute on function platform.file_admit(text, bigint) to sternpost_server;
