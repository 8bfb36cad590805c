-- Ends the call of a caller who wants to change a factor or to end other sign-ins, unless a credential was shown in the
-- sign-in within the last five minutes. If the identity has a second factor, only that counts.
create or replace function platform.auth_require(identity_id text, token text) returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shown record;
begin
  select shown.*
  from platform.auth_shown(identity_id, split_part(token, ' ', 2)) as shown
  into v_shown;
  if v_shown.shown_at is null or v_shown.shown_at <= now() - interval '5 minutes' then
    raise exception 'the caller must show a credential again' using
      errcode = 'SP405',
      detail = jsonb_build_object(
        'needs',
        case when v_shown.has_second and v_shown.methods is null then 'secondFactor' else 'recentSignIn' end
      );
  end if;
end;
$$;

comment on function platform.auth_require(text, text) is 'Ends the call of a caller who has not shown a credential lately.';
grant execute on function platform.auth_require(text, text) to sternpost_server;
