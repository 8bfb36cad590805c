-- Rounds the result of arithmetic to a Number as it is stored: half away from zero. A result out of range becomes a
-- number that the check of its column refuses by name. A cast would fail without naming the column.
create or replace function platform.number(value numeric) returns bigint
language sql
immutable
parallel safe
security invoker
as $$
  select case
    when value between -9007199254740992 and 9007199254740992 then round(value)::bigint
    when value is not null then 9223372036854775807
  end;
$$;

comment on function platform.number(numeric) is 'A number rounded to a Number; out of range, a number that the check of the column refuses.';
grant execute on function platform.number(numeric) to sternpost_caller, sternpost_code;
