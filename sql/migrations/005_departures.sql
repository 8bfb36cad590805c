-- A browser that is sent to a provider takes the state of its sign-in along, sealed into its cookies. So a browser that
-- never comes back leaves nothing here, however many do so. The table keeps which ones did come back, since each may do
-- so once.

-- A new database does not have the functions yet.
drop function if exists platform.auth_signin_begin(bytea, text, text, boolean, text, text, text, text, text, bytea, interval);
drop function if exists platform.auth_signin_take(bytea);
drop table platform.auth_transaction;

create table platform.auth_return (
  hash bytea not null,
  ends_at timestamptz not null,
  constraint auth_return_pkey primary key (hash),
  constraint auth_return_hash_check check (octet_length(hash) = 32)
);

create index auth_return_ends_at_idx on platform.auth_return (ends_at); -- to sweep

comment on table platform.auth_return is 'Browsers that came back from a provider: none may come back twice.';
comment on column platform.auth_return.hash is 'SHA-256 of the state that the provider sent back.';
comment on column platform.auth_return.ends_at is 'When the browser would be too late anyway.';

-- It returns now whether to continue.
drop function if exists platform.auth_sweep(interval, integer);
