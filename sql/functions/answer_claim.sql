-- Makes this transaction the one that carries a call out, and returns null; or returns the answer of the one that did. Another
-- transaction that is carrying it out is waited for, as long as for any lock. What has had its time counts as not there.
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

comment on function platform.answer_claim(bytea, bytea) is 'Lets one transaction carry a call out; returns the answer if one did.';
grant execute on function platform.answer_claim(bytea, bytea) to sternpost_server;
