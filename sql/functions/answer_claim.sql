-- Claims a call for this transaction and returns null, or returns the answer if another transaction has carried out the
-- call. If another transaction is carrying it out, this one waits for it, as long as for any lock. An expired answer
-- counts as missing.
create or replace function platform.answer_claim(id bytea, asks bytea) returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into platform.answer (id, asks, expires_at)
  values (answer_claim.id, answer_claim.asks, now() + interval '24 hours')
  on conflict on constraint answer_pkey do update
  set asks = excluded.asks,
    body = null,
    expires_at = excluded.expires_at
  where answer.expires_at <= now();

  if found then
    return null;
  end if;
  return platform.answer_find(answer_claim.id, answer_claim.asks);
end;
$$;

comment on function platform.answer_claim(bytea, bytea) is 'Lets one transaction carry out a call; returns the answer if one has.';
grant execute on function platform.answer_claim(bytea, bytea) to sternpost_server;
