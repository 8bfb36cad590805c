-- Deletes expired rows, at most so many of each kind, so that no transaction lasts long. Several servers may sweep at
-- once. span is how long failures and tries are counted. It returns whether it left some of a kind, so that it should
-- be called again.
create or replace function platform.auth_sweep(span interval, most integer) returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most_families integer := greatest(most / 10, 1); -- each brings its tokens along
  v_is_more boolean := false;
  v_table text;
  v_key text;
  v_condition text;
  v_count integer;
  v_first bigint;
begin
  -- A code that has begun a family goes with it.
  for v_table, v_key, v_condition in
    values
      ('auth_failure', 'id', 'failed_at < now() - $1'),
      ('auth_try', 'id', 'tried_at < now() - $1'),
      ('auth_return', 'hash', 'ends_at < now()'),
      ('auth_known_address', 'hash', $condition$signed_in_at < now() - interval '30 days'$condition$),
      ('auth_proof', 'hash', 'ends_at < now()'),
      ('auth_pending', 'hash', 'ends_at < now()'),
      ('auth_code', 'hash', $condition$family_id is null and expires_at < now() - interval '1 hour'$condition$)
  loop
    execute format(
      'delete from platform.%1$I where %2$I in (select %2$I from platform.%1$I where %3$s limit $2 for update skip locked)',
      v_table,
      v_key,
      v_condition
    )
    using span, most;
    get diagnostics v_count = row_count;
    v_is_more := v_is_more or v_count = most;
  end loop;

  -- Revoked families are kept for a day, so that a theft can be investigated.
  delete from platform.auth_family
  where auth_family.id in (
    select old.id
    from platform.auth_family as old
    where old.ends_at < now()
      or old.revoked_at < now() - interval '1 day'
    limit v_most_families
    for update skip locked
  );
  get diagnostics v_count = row_count;
  v_is_more := v_is_more or v_count = v_most_families;

  -- Families of identities that are gone are refused when they are used; most are not used again. Looking at some of
  -- them, in another place each time, finds them all in the end.
  if to_regclass('app.identity') is not null then
    select floor(random() * max(auth_family.id))::bigint
    from platform.auth_family
    into v_first;

    delete from platform.auth_family
    where auth_family.id in (
      select sample.id
      from (
        select auth_family.id, auth_family.identity_id
        from platform.auth_family
        where auth_family.id >= v_first
        order by auth_family.id
        limit most
      ) as sample
      where not exists (select from app.identity where identity.id = sample.identity_id)
    );
  end if;
  return v_is_more;
end;
$$;

comment on function platform.auth_sweep(interval, integer) is 'Deletes a bounded number of expired rows of sign-ins; true if some are left.';
grant execute on function platform.auth_sweep(interval, integer) to sternpost_server;
