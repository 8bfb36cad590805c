-- From when on access tokens of an identity are accepted. A server verifies an access token without the database, so a
-- token would outlive the password that it was issued for.

create table platform.caller_validity (
  identity_id text collate "C" not null,
  valid_from timestamptz not null,
  constraint caller_validity_pkey primary key (identity_id)
);

comment on table platform.caller_validity is
  'Identities whose password was reset or changed, whose e-mail address was proven, or that signed out everywhere.';
comment on column platform.caller_validity.valid_from is 'Access tokens that were issued before are refused, except those of a sign-in that stays.';

-- Each call asks for its caller.
grant select on platform.caller_validity
to sternpost_open, sternpost_caller, sternpost_code,
  sternpost_caller_2, sternpost_caller_3, sternpost_caller_4, sternpost_caller_5, sternpost_caller_6, sternpost_caller_7, sternpost_caller_8;

-- They have a parameter more now.
drop function if exists platform.refuse_caller();
drop function if exists platform.auth_account(text, text);
drop function if exists platform.auth_verify(bytea);
