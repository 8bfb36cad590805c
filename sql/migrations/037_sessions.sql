-- A sign-in says where it is used, so that its identity knows it from others and can end it.
alter table platform.auth_family
  add column used_at timestamptz,
  add column address text,
  add column agent text,
  add column shown_at timestamptz;

comment on column platform.auth_family.used_at is 'When it was refreshed last; null if it was not.';
comment on column platform.auth_family.address is 'The client address that used it last; null if an earlier version began it.';
comment on column platform.auth_family.agent is 'How the client that used it last names itself; null if it does not.';
comment on column platform.auth_family.shown_at is 'When a credential was shown last; null if that was at its beginning.';

-- They have more parameters now.
drop function if exists platform.auth_start(text, bytea, bytea, interval, bytea);
drop function if exists platform.auth_password_accept(
  text, text, text, bytea, bytea, interval, text, text, integer, integer, integer, interval
);
drop function if exists platform.auth_password_create(
  text, text, text, bytea, bytea, interval, text, integer, integer, integer, interval, bytea, interval, bytea
);
drop function if exists platform.auth_signin_redeem(bytea, bytea, bytea, bytea, bytea, bytea, interval);
drop function if exists platform.auth_refresh(bytea, bytea, bytea, interval);
