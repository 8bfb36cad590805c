-- Claims a call for this transaction, or returns what is kept of its answer if another transaction has carried it out.
-- If another transaction is carrying it out, this one waits for it, as long as for any lock. An expired answer counts as
-- missing. A caller for whom enough is kept is refused until the oldest answer expires; calls in progress do not count
-- yet. address is the caller's if there is no identity. An anonymous client of IPv6 also counts for its network of 56
-- bits, with four times the limit, and of 48 bits, with sixteen times.
create or replace function platform.answer_claim(
  id bytea,
  asks bytea,
  identity_id text,
  token text,
  address text,
  out is_kept boolean,
  out body text,
  out record text,
  out digest bytea
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_keys constant bigint := 10000;
  c_bytes constant bigint := 16 * 1024 * 1024;
  v_address text := case when identity_id is null then address end;
  v_caller text := coalesce('identity ' || identity_id, 'address ' || v_address);
  v_block cidr := platform.network(v_address, 48);
  v_site cidr := platform.network(v_address, 56);
  v_room_at timestamptz;
begin
  insert into platform.answer (id, asks, caller, expires_at)
  values (answer_claim.id, answer_claim.asks, v_caller, now() + interval '24 hours')
  on conflict on constraint answer_pkey do update
  set asks = excluded.asks,
    caller = excluded.caller,
    body = null,
    record = null,
    digest = null,
    expires_at = excluded.expires_at
  where answer.expires_at <= now();

  if not found then
    select found.is_kept, found.body, found.record, found.digest
    into is_kept, body, record, digest
    from platform.answer_find(answer_claim.id, answer_claim.asks, answer_claim.identity_id, answer_claim.token) as found;
    return;
  end if;

  select max(filling.oldest)
  into v_room_at
  from (
    (
      select min(answer.expires_at) as oldest
      from platform.answer
      where answer.caller = v_caller
        and answer.expires_at > now()
        and answer.id <> answer_claim.id
      having count(*) >= c_keys
        or sum(octet_length(answer.body)) >= c_bytes
    )
    union all
    (
      select min(answer.expires_at)
      from platform.answer
      where answer.block = v_block
        and answer.site = v_site
        and answer.expires_at > now()
        and answer.id <> answer_claim.id
      having count(*) >= 4 * c_keys
        or sum(octet_length(answer.body)) >= 4 * c_bytes
    )
    union all
    (
      select min(answer.expires_at)
      from platform.answer
      where answer.block = v_block
        and answer.expires_at > now()
        and answer.id <> answer_claim.id
      having count(*) >= 16 * c_keys
        or sum(octet_length(answer.body)) >= 16 * c_bytes
    )
  ) as filling;

  if v_room_at is not null then
    raise exception 'too many answers are kept for idempotency keys' using
      errcode = 'SP429',
      detail = json_build_object('retryAfter', greatest(ceil(extract(epoch from v_room_at - clock_timestamp())), 1));
  end if;
  is_kept := false;
end;
$$;

comment on function platform.answer_claim(bytea, bytea, text, text, text) is
  'Lets one transaction carry out a call, unless enough is kept for its caller; what is kept of the answer if one has.';
grant execute on function platform.answer_claim(bytea, bytea, text, text, text) to sternpost_server;
