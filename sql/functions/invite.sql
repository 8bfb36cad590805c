-- Keeps the invitation of a row that the call is about to insert, with the mail that takes its token there: both are in the
-- context, where the server has put them, unless the row has no address. If the address has got enough mails, nothing is
-- kept, and the call goes on, so that it does not tell who was invited before.
create or replace function platform.invite(context jsonb, relation regclass, record text, account text, address text) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_email constant text := context #>> '{invitation,email}';
  v_lifetime constant interval := interval '7 days';
begin
  if v_email is null or not platform.mail_allowed('invitation', v_email) then
    return;
  end if;

  insert into platform.auth_proof (hash, purpose, email, ends_at, relation, record, account, address)
  values (
    decode(context #>> '{invitation,hash}', 'base64'),
    'invitation',
    v_email,
    now() + v_lifetime,
    invite.relation,
    invite.record,
    invite.account,
    invite.address
  );
  perform platform.mail_queue('invitation', v_email, decode(context #>> '{invitation,content}', 'base64'), v_lifetime);
end;
$$;

comment on function platform.invite(jsonb, regclass, text, text, text) is 'Keeps the invitation of a new row, and its mail.';
grant execute on function platform.invite(jsonb, regclass, text, text, text) to sternpost_caller;
