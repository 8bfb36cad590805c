-- Keeps other transactions from counting for this account and this client address until the transaction ends, so that
-- concurrent requests cannot pass a limit together. The account always comes first, so that two transactions cannot
-- wait for each other. Not granted to any role: only functions beside it use it.
create or replace function platform.auth_lock(account text, address text) returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if account is not null then
    perform platform.take_turn('account', account);
  end if;
  if address is not null then
    perform platform.take_turn('address', address);
  end if;
end;
$$;

comment on function platform.auth_lock(text, text) is 'Lets one transaction at a time count for an account or an address.';
