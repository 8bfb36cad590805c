-- Ends the transaction as a check of a table does, for rules that are tested when all rows are written.
create or replace function platform.break_rule(table_name text, rule text) returns void
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'a row of % breaks the rule %', table_name, rule
    using errcode = 'check_violation', schema = 'app', table = table_name, constraint = rule;
end;
$$;

comment on function platform.break_rule(text, text) is 'Says that a row breaks a rule of its table.';
