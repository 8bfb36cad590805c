-- Judges a refresh token that is presented, and supersedes it. successor_hash is that of its successor, null if tokens are not
-- rotated.
--
--   ok        the answer is the family's newest token, as many steps after the presented one as `steps` says
--   refused   unknown, revoked, at its end, or of an identity that is gone
--   reused    superseded longer than the grace ago. Somebody has it who should not, so the family is revoked
--
-- Of several requests that present the newest token at once, one supersedes it; the others find it superseded just now.
create or replace function platform.auth_refresh(
  token_hash bytea,
  successor_hash bytea,
  grace interval,
  out outcome text,
  out identity_id text,
  out steps integer
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_family_id bigint;
  v_position integer;
  v_superseded_at timestamptz;
begin
  outcome := 'refused';
  select auth_family.id, auth_family.identity_id
  from platform.auth_refresh_token
  join platform.auth_family on auth_family.id = auth_refresh_token.family_id
  where auth_refresh_token.hash = token_hash
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
  into v_family_id, identity_id;
  if not found then
    return;
  end if;

  if not exists (select from app.identity where identity.id = auth_refresh.identity_id) then
    update platform.auth_family
    set revoked_at = now()
    where auth_family.id = v_family_id;
    return;
  end if;

  if successor_hash is not null then
    update platform.auth_refresh_token
    set superseded_at = clock_timestamp()
    where auth_refresh_token.hash = token_hash
      and auth_refresh_token.superseded_at is null
    returning auth_refresh_token.position into v_position;
    if found then
      insert into platform.auth_refresh_token (hash, family_id, position)
      values (successor_hash, v_family_id, v_position + 1);
      outcome := 'ok';
      steps := 1;
      return;
    end if;
  end if;

  select auth_refresh_token.position, auth_refresh_token.superseded_at
  from platform.auth_refresh_token
  where auth_refresh_token.hash = token_hash
  into v_position, v_superseded_at;

  if v_superseded_at < now() - grace then
    update platform.auth_family
    set revoked_at = now()
    where auth_family.id = v_family_id
      and auth_family.revoked_at is null;
    outcome := 'reused';
    return;
  end if;

  select max(auth_refresh_token.position) - v_position
  from platform.auth_refresh_token
  where auth_refresh_token.family_id = v_family_id
  into steps;
  outcome := 'ok';
end;
$$;

comment on function platform.auth_refresh(bytea, bytea, interval) is 'Judges a refresh token that is presented, and supersedes it.';
grant execute on function platform.auth_refresh(bytea, bytea, interval) to sternpost_server;
