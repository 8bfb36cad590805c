-- The first half of a sign-in by password. It tells whether the client may try now (wait is 0), which identity with a
-- password has this e-mail address (null if none), the hash of its password, and whether the address is proven. The
-- issuer is the address of the service at sign-up, which may have changed: it matters only if a service of another
-- address had an identity of the same e-mail address before the two were kept from that. It counts the attempt before its result is known: tries limits the attempts for an account at a client address,
-- including the right ones.
create or replace function platform.auth_password(
  email text,
  issuer text,
  address text,
  per_account_and_address integer,
  per_account integer,
  per_address integer,
  tries integer,
  span interval,
  out wait integer,
  out identity_id text,
  out password text,
  out is_verified boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform platform.auth_lock(email, address);
  wait := platform.auth_wait(email, address, per_account_and_address, per_account, per_address, span);
  if wait > 0 then
    return;
  end if;

  select platform.auth_wait_for(max(filling.tried_at), span)
  from (
    select auth_try.tried_at
    from platform.auth_try
    where auth_try.account = auth_password.email
      and auth_try.address = auth_password.address
      and auth_try.tried_at > now() - span
    order by auth_try.tried_at desc
    offset tries - 1
    limit 1
  ) as filling
  into wait;
  if wait > 0 then
    return;
  end if;
  insert into platform.auth_try (account, address)
  values (auth_password.email, auth_password.address);

  select identity.id, identity.password, identity.email_verified
  from app.identity
  where identity.email = auth_password.email
    and identity.password is not null
  order by identity.issuer = auth_password.issuer desc
  limit 1
  into identity_id, password, is_verified;
end;
$$;

comment on function platform.auth_password(text, text, text, integer, integer, integer, integer, interval) is
  'Whether a password may be tried, and the hash that it has to match.';
grant execute on function platform.auth_password(text, text, text, integer, integer, integer, integer, interval) to sternpost_server;
