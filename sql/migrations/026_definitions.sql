-- What is kept of policies and other objects is the same in each major version of Postgres, so the version is not kept.
-- What was kept of policies before is in another form: the next release keeps them anew.
delete from platform.kept_rule
where kept_rule.schema = 'app';

drop function if exists platform.rules();

alter table platform.kept_rule drop column postgres;
