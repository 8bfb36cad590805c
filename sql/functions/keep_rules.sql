-- Notes the rules of schemas, for platform.serving_faults to compare with later: at the end of an installation. Not
-- granted to any role.
create or replace function platform.keep_rules(variadic schemas text[]) returns void
language sql
volatile
security invoker
as $$
  delete from platform.kept_rule
  where kept_rule.schema = any (keep_rules.schemas);

  insert into platform.kept_rule (schema, object, digest)
  select rules.schema, rules.object, rules.digest
  from platform.rules() as rules
  where rules.schema = any (keep_rules.schemas);
$$;

comment on function platform.keep_rules(text[]) is 'Notes the rules of schemas.';
