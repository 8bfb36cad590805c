-- A family keeps only the tokens that may come back in good faith, instead of all tokens. It recognizes older tokens by
-- the part that all tokens of the family have in common, so that they still reveal a theft.

alter table platform.auth_family
  add column mark bytea,
  add column marked_from integer,
  add constraint auth_family_mark_check check (octet_length(mark) = 32),
  add constraint auth_family_marked_from_check check ((mark is null) = (marked_from is null));

create unique index auth_family_mark_key on platform.auth_family (mark) where mark is not null; -- to know a deleted token's family

comment on column platform.auth_family.mark is
  'SHA-256 of what all its tokens begin with, since the first that was superseded; null before.';
comment on column platform.auth_family.marked_from is 'Position of the first token that begins so: those before it are kept.';
comment on table platform.auth_refresh_token is
  'Refresh tokens by their SHA-256: the newest of each family, and those that were superseded a short while ago.';

drop function if exists platform.auth_family_key(bytea);
drop function if exists platform.auth_refresh(bytea, bytea, interval);
drop function if exists platform.auth_revoke(bytea);
