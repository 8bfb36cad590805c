-- Accepts an invitation, all or nothing: it signs the address up, or proves the address of the account that has it, and
-- writes the account into the row. Then it begins a family, or, for an account with second factors, keeps pending_hash,
-- that of the token for showing one. Without a token_hash, the account has a sign-in, and it begins nothing. What somebody
-- held before the address was proven ends, except that sign-in: spared is the SHA-256 of its key.
--
--   ok        the row has its account
--   refused   the token is invalid; the row is gone, or has an account or another address by now; or the account has
--             another address or another hash than old_password
--   taken     the address has an account by now
--   linked    a row with that account cannot be: the account has another row, or a validation refuses it
--
-- Without identity_id, the address signs up with the hash new_password.
create or replace function platform.auth_invitation_accept(
  invitation_hash bytea,
  issuer text,
  identity_id text,
  old_password text,
  new_password text,
  spared bytea,
  token_hash bytea,
  key bytea,
  lifetime interval,
  address text,
  agent text,
  pending_hash bytea,
  out outcome text,
  out account_id text,
  out factors text[]
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proof platform.auth_proof;
  v_is_new constant boolean := identity_id is null;
  v_was_verified boolean;
begin
  outcome := 'refused';
  factors := '{}';

  begin
    -- The identity comes before its tokens, as in platform.auth_take_proof.
    select identity.id, identity.email_verified
    from app.identity
    where identity.id = auth_invitation_accept.identity_id
      and (identity.password = old_password or old_password is null)
    for update
    into account_id, v_was_verified;

    delete from platform.auth_proof
    where auth_proof.hash = invitation_hash
      and auth_proof.purpose = 'invitation'
      and auth_proof.ends_at > now()
      and exists (select from pg_class where pg_class.oid = auth_proof.relation)
    returning auth_proof.* into strict v_proof;

    if v_is_new then
      insert into app.identity (email, issuer, password, email_verified)
      select v_proof.email, auth_invitation_accept.issuer, new_password, true
      where not exists (
        select
        from app.identity
        where identity.email = v_proof.email
          and identity.password is not null
      )
      on conflict do nothing
      returning identity.id into account_id;
      if account_id is null then
        outcome := 'taken';
      end if;
    end if;

    update app.identity
    set email_verified = true
    where identity.id = account_id
      and identity.email = v_proof.email
    returning identity.id into strict account_id;

    -- The record of what is written says who writes it.
    perform set_config('sternpost.origin', 'acceptInvitation', true), set_config('sternpost.identity_id', account_id, true);
    execute format(
      'update %s as row set %I = $1 where row.id = $2 and row.%2$I is null and lower(row.%I) = $3 returning row.id',
      v_proof.relation,
      v_proof.account,
      v_proof.address
    )
    into strict v_proof.record
    using account_id, v_proof.record, v_proof.email;
  exception
    when no_data_found or undefined_column then
      return;
    when unique_violation or check_violation then
      outcome := 'linked';
      return;
  end;
  outcome := 'ok';

  if not v_is_new and not v_was_verified then
    perform platform.auth_end(account_id, spared);
  end if;
  if token_hash is null then
    return;
  end if;

  factors := platform.auth_factors(account_id);
  if factors <> '{}' then
    insert into platform.auth_pending (hash, identity_id, ends_at)
    values (pending_hash, account_id, now() + interval '10 minutes');
  else
    perform platform.auth_start(account_id, token_hash, key, lifetime, null, address, agent);
    perform platform.auth_remember(account_id, v_proof.email, address);
  end if;
end;
$$;

comment on function platform.auth_invitation_accept(bytea, text, text, text, text, bytea, bytea, bytea, interval, text, text, bytea)
  is 'Accepts an invitation: signs its address in or up, and writes the account into the row.';
grant execute on function platform.auth_invitation_accept(bytea, text, text, text, text, bytea, bytea, bytea, interval, text, text, bytea)
to sternpost_server;
