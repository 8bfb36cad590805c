-- Proves an e-mail address by a token that was sent to it: the address of an identity, or its new one. If it is the new
-- one, the old address gets a mail, and all other tokens become void, since they were sent to the old address. What
-- somebody held before the address was proven ends, except the sign-in that proves it: spared is the SHA-256 of its key.
--
--   ok        the address is proven
--   refused   the token is invalid, or the identity has another hash than the given one by now
--   taken     another identity has the new address by now; the token is used up
create or replace function platform.auth_verify(token_hash bytea, password text, spared bytea) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proof platform.auth_proof := platform.auth_take_proof(token_hash, '{verifyEmail,changeEmail}');
begin
  if v_proof.identity_id is null or not exists (
    select
    from app.identity
    where identity.id = v_proof.identity_id
      and identity.password = coalesce(auth_verify.password, identity.password)
  ) then
    return 'refused';
  end if;

  if v_proof.purpose = 'verifyEmail' then
    update app.identity
    set email_verified = true
    where identity.id = v_proof.identity_id;

    delete from platform.auth_proof
    where auth_proof.identity_id = v_proof.identity_id
      and auth_proof.purpose = 'verifyEmail';

    perform platform.auth_end(v_proof.identity_id, spared);
    return 'ok';
  end if;

  begin
    update app.identity
    set
      email = v_proof.new_email,
      email_verified = true
    where identity.id = v_proof.identity_id;
  exception
    when unique_violation then
      return 'taken';
  end;

  delete from platform.auth_proof
  where auth_proof.identity_id = v_proof.identity_id;

  perform platform.auth_end(v_proof.identity_id, spared);
  perform platform.mail_queue('emailChanged', v_proof.email, v_proof.notice, interval '1 day');
  return 'ok';
end;
$$;

comment on function platform.auth_verify(bytea, text, bytea) is 'Proves an e-mail address by a token that was sent to it.';
grant execute on function platform.auth_verify(bytea, text, bytea) to sternpost_server;
