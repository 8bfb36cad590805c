-- Judges a refresh token that a client presents, and supersedes it. successor_hash is the hash of its successor, or
-- null if tokens are not rotated. mark is the SHA-256 of the part with which both begin.
--
--   ok        the answer is the family's newest token, as many steps after the presented one as `steps` says
--   refused   unknown, revoked, at its end, or of an identity that is gone
--   reused    superseded longer than the grace ago. It counts as stolen, so the family is revoked
--
-- If several requests present the newest token at once, one of them supersedes it, and the others find that it has just
-- been superseded. A client that has superseded many tokens within the grace gets the newest one as it is.
--
-- A token is kept until the grace has passed and the successor of its successor is used. After that the mark identifies
-- its family, since no token of another family has it. So a token with the mark of a family that does not keep it was
-- superseded long ago.
create or replace function platform.auth_refresh(
  token_hash bytea,
  successor_hash bytea,
  mark bytea,
  grace interval,
  address text default null,
  agent text default null,
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
  v_most_superseded constant integer := 30; -- within the grace
  v_family_id bigint;
  v_position integer;
  v_superseded_at timestamptz;
begin
  outcome := 'refused';

  -- Requests with tokens of one family take turns.
  select auth_family.id, auth_family.identity_id
  from platform.auth_family
  where auth_family.id = platform.auth_family_id(token_hash, auth_refresh.mark)
    and auth_family.revoked_at is null
    and auth_family.ends_at > now()
  for update
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

  select auth_refresh_token.position, auth_refresh_token.superseded_at
  from platform.auth_refresh_token
  where auth_refresh_token.hash = token_hash
  into v_position, v_superseded_at;

  if not found or v_superseded_at < now() - grace then
    update platform.auth_family
    set revoked_at = now()
    where auth_family.id = v_family_id;
    outcome := 'reused';
    return;
  end if;

  outcome := 'ok';
  update platform.auth_family
  set
    used_at = now(),
    address = coalesce(auth_refresh.address, auth_family.address),
    agent = coalesce(auth_refresh.agent, auth_family.agent)
  where auth_family.id = v_family_id;

  if v_superseded_at is not null then
    select max(auth_refresh_token.position) - v_position
    from platform.auth_refresh_token
    where auth_refresh_token.family_id = v_family_id
    into steps;
    return;
  end if;

  steps := 0;
  if successor_hash is null or v_most_superseded <= (
    select count(*)
    from platform.auth_refresh_token
    where auth_refresh_token.family_id = v_family_id
      and auth_refresh_token.superseded_at > now() - grace
  ) then
    return;
  end if;

  steps := 1;
  update platform.auth_refresh_token
  set superseded_at = clock_timestamp()
  where auth_refresh_token.hash = token_hash;

  insert into platform.auth_refresh_token (hash, family_id, position)
  values (successor_hash, v_family_id, v_position + 1);

  update platform.auth_family
  set
    mark = auth_refresh.mark,
    marked_from = v_position
  where auth_family.id = v_family_id
    and auth_family.mark is null;

  delete from platform.auth_refresh_token
  using platform.auth_family
  where auth_family.id = v_family_id
    and auth_refresh_token.family_id = v_family_id
    and auth_refresh_token.position between auth_family.marked_from and v_position - 2
    and auth_refresh_token.superseded_at < now() - grace;
end;
$$;

comment on function platform.auth_refresh(bytea, bytea, bytea, interval, text, text) is
  'Judges a refresh token that is presented, and supersedes it.';
grant execute on function platform.auth_refresh(bytea, bytea, bytea, interval, text, text) to sternpost_server;
