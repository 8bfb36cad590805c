-- Keeps a new key of an identity, which is given by its id, or by its e-mail address if no other identity has that. Not
-- granted to any role: a stolen login of a server must not be able to make keys. is_several tells that several
-- identities have the address. id is null if no key was made.
create or replace function platform.auth_key_create(
  identity text,
  hash bytea,
  ends_at timestamptz,
  out id text,
  out identity_id text,
  out is_several boolean
)
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found text[];
begin
  select array_agg(known.id)
  from app.identity as known
  where known.id = auth_key_create.identity
    or known.email = lower(auth_key_create.identity)
  into v_found;

  is_several := coalesce(cardinality(v_found), 0) > 1;
  if is_several or v_found is null then
    return;
  end if;

  identity_id := v_found[1];
  insert into platform.auth_key (id, identity_id, hash, ends_at)
  values (platform.new_id(), auth_key_create.identity_id, auth_key_create.hash, auth_key_create.ends_at)
  returning auth_key.id into id;
end;
$$;

comment on function platform.auth_key_create(text, bytea, timestamptz) is 'Keeps a new key of an identity.';
