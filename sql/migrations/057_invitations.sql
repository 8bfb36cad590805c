-- An invitation is a token that was sent to the e-mail address of a row. Whoever accepts it becomes an account of that row.
alter table platform.auth_proof
  add column relation regclass,
  add column record text,
  add column account text,
  add column address text,
  drop constraint auth_proof_purpose_check,
  add constraint auth_proof_purpose_check check (purpose in ('resetPassword', 'verifyEmail', 'changeEmail', 'invitation')),
  add constraint auth_proof_relation_check check (num_nonnulls(relation, record, account, address) = case purpose when 'invitation' then 4 else 0 end);

comment on column platform.auth_proof.relation is 'The table whose row the invitation is for.';
comment on column platform.auth_proof.record is 'The id of that row.';
comment on column platform.auth_proof.account is 'The column that is null until the invitation is accepted.';
comment on column platform.auth_proof.address is 'The column of the address that was invited: the invitation is void once that is another.';
