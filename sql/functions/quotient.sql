-- The operator / of expressions: rounded half away from zero to 18 digits after the point, null if the divisor is 0.
-- Postgres itself rounds to a number of digits that depends on the operands. So this divides integers: div() does not
-- round.
create or replace function platform.quotient(dividend numeric, divisor numeric) returns numeric
language sql
immutable
parallel safe
security invoker
as $$
  select sign(dividend) * sign(divisor) * 0.000000000000000001
    * div(2000000000000000000 * abs(dividend) + abs(divisor), 2 * abs(nullif(divisor, 0)));
$$;

comment on function platform.quotient(numeric, numeric) is 'A quotient to 18 digits after the point; null if the divisor is 0.';
grant execute on function platform.quotient(numeric, numeric) to sternpost_caller, sternpost_code;
