-- The texts of policies and functions when they were installed, so that servers notice later changes by hand.

create table platform.kept_rule (
  schema text collate "C" not null,
  object text collate "C" not null,
  postgres int not null,
  digest text not null,
  constraint kept_rule_pkey primary key (schema, object)
);

comment on table platform.kept_rule is 'What platform.rules said when a release, or the platform, was installed.';
comment on column platform.kept_rule.postgres is 'The major version in whose words it was said; 0 means that all say the same.';

grant select on platform.kept_rule to sternpost_server;
