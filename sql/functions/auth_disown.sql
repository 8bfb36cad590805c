-- For the owner of an address with which somebody else has signed up, who presents the token that was sent there: the
-- account loses its password, its factors, its sign-ins and the address, with which its owner may sign up. A token for a new address
-- of an account becomes void, and the account stays. It returns false and changes nothing if the token is invalid.
create or replace function platform.auth_disown(token_hash bytea) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proof platform.auth_proof := platform.auth_take_proof(token_hash, '{verifyEmail,changeEmail}');
begin
  if v_proof.purpose = 'verifyEmail' then
    update app.identity
    set
      email = null,
      password = null
    where identity.id = v_proof.identity_id;

    delete from platform.auth_proof
    where auth_proof.identity_id = v_proof.identity_id;

    perform platform.auth_forget_factors(v_proof.identity_id);
    perform platform.auth_end(v_proof.identity_id, null);
  end if;
  return v_proof.identity_id is not null;
end;
$$;

comment on function platform.auth_disown(bytea) is 'Takes an address from the account that somebody else has made with it.';
grant execute on function platform.auth_disown(bytea) to sternpost_server;
