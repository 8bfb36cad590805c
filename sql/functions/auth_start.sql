-- Begins a family of refresh tokens with its first token, after the credential has been checked; second_at is when a second
-- factor was shown, too. It returns false and begins nothing if the identity does not exist, or if the code of the
-- sign-in is not consumed, has been presented again since, or has begun a family already. code_hash is null for all grants
-- but authorization_code.
--
-- No family lasts longer than a year, and an identity has at most a hundred families. If there are more, the oldest
-- ends, and first of all one that is not usable any more.
create or replace function platform.auth_start(
  identity_id text,
  token_hash bytea,
  key bytea,
  lifetime interval,
  code_hash bytea default null,
  address text default null,
  agent text default null,
  second_at timestamptz default null
) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most_families constant integer := 100;
  v_longest constant interval := interval '365 days';
  v_family_id bigint;
begin
  -- The table is generated, so it is not there yet when this function is installed.
  if not exists (select from app.identity where identity.id = auth_start.identity_id) then
    return false;
  end if;

  if code_hash is not null then
    perform
    from platform.auth_code
    where auth_code.hash = auth_start.code_hash
      and auth_code.identity_id = auth_start.identity_id
      and auth_code.consumed_at is not null
      and auth_code.replayed_at is null
      and auth_code.family_id is null
    for update;
    if not found then
      return false;
    end if;
  end if;

  -- Until this transaction ends, no other transaction begins a family of this identity.
  perform platform.take_turn('identity', identity_id);

  delete from platform.auth_family
  where auth_family.id in (
    select old.id
    from platform.auth_family as old
    where old.identity_id = auth_start.identity_id
    order by (old.revoked_at is null and old.ends_at > now()) desc, old.id desc
    offset v_most_families - 1
  );

  insert into platform.auth_family (identity_id, key, ends_at, address, agent, second_at)
  values (
    auth_start.identity_id,
    auth_start.key,
    now() + least(lifetime, v_longest),
    auth_start.address,
    auth_start.agent,
    case when auth_start.second_at is not null then least(auth_start.second_at, now()) end
  )
  returning auth_family.id into v_family_id;

  insert into platform.auth_refresh_token (hash, family_id, position)
  values (token_hash, v_family_id, 0);

  if code_hash is not null then
    update platform.auth_code
    set family_id = v_family_id
    where auth_code.hash = auth_start.code_hash;
  end if;
  return true;
end;
$$;

comment on function platform.auth_start(text, bytea, bytea, interval, bytea, text, text, timestamptz) is
  'Begins a family of refresh tokens; false if its identity or its code does not allow it.';
grant execute on function platform.auth_start(text, bytea, bytea, interval, bytea, text, text, timestamptz) to sternpost_server;
