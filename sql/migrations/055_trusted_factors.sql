-- Some providers say that their user has shown a second factor.
alter table platform.auth_code
  add column second_at timestamptz;

comment on column platform.auth_code.second_at is 'When the user has shown a second factor to a provider that is trusted with it; null if none.';

-- They have other parameters now.
drop function if exists platform.auth_start(text, bytea, bytea, interval, bytea, text, text, boolean);
drop function if exists platform.auth_signin_finish(
  text, text, jsonb, text, integer, interval, bytea, text, boolean, text, text, interval
);
