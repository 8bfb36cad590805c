-- The named time zones that this database knows; a server asks when it starts. pg_timezone_names would tell too, but it
-- fails as a whole if one file of the system's time zones cannot be read.
create or replace function platform.known_time_zones(names text[]) returns text[]
language plpgsql
stable
security invoker
as $$
declare
  v_name text;
  v_known text[] := '{}';
begin
  foreach v_name in array names loop
    begin
      perform now() at time zone v_name;
      v_known := v_known || v_name;
    exception
      when invalid_parameter_value then
        null; -- not this one
    end;
  end loop;
  return v_known;
end;
$$;

comment on function platform.known_time_zones(text[]) is 'The named time zones that this database knows.';
grant execute on function platform.known_time_zones(text[]) to sternpost_server;
