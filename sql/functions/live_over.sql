-- Whether a sign-in has ended: its access token is over, its refresh tokens are revoked, or its identity is gone. What ends
-- sign-ins and keys of machines is written to platform.change, as changes of no model, so that live answers end with them.
create or replace function platform.live_over(identity_id text, token text) returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from platform.caller(live_over.identity_id, live_over.token))
    or split_part(token, ' ', 2) <> '' and not platform.is_signed_in(live_over.identity_id, live_over.token);
$$;

comment on function platform.live_over(text, text) is 'Whether a sign-in has ended.';
grant execute on function platform.live_over(text, text) to sternpost_server;

create or replace trigger _600_live after update of revoked_at on platform.auth_family
  for each row execute function platform.tg_change('');
create or replace trigger _600_live after insert or update on platform.caller_validity
  for each row execute function platform.tg_change('');
create or replace trigger _600_live after update of revoked_at or delete on platform.auth_key
  for each row execute function platform.tg_change('');
