-- Remembers the latest twenty client addresses from which an identity has signed in. Not granted to any role: only
-- functions beside it use it.
create or replace function platform.auth_remember(identity_id text, account text, address text) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 20;
begin
  insert into platform.auth_known_address (hash, identity_id, signed_in_at)
  values (platform.auth_address_hash(account, address), auth_remember.identity_id, now())
  on conflict (hash) do update set
    identity_id = excluded.identity_id,
    signed_in_at = excluded.signed_in_at;

  delete from platform.auth_known_address
  where auth_known_address.hash in (
    select old.hash
    from platform.auth_known_address as old
    where old.identity_id = auth_remember.identity_id
    order by old.signed_in_at desc
    offset v_most
  );
end;
$$;

comment on function platform.auth_remember(text, text, text) is 'Remembers an address from which an identity has signed in.';
