-- Queues a mail for code of actions, jobs and subscribers: it is sent after the commit of their transaction, once. The
-- template is one of the project's folder mail, but for those of accounts; data has the values of its places. The error
-- does not tell the address, since it is logged.
create or replace function platform.send_mail(address text, template text, data jsonb) returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(length(address) > 254, true)
    or address !~ '^[A-Za-z0-9!#$%&''*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&''*+/=?^_`{|}~-]+)*@[A-Za-z0-9]+(-+[A-Za-z0-9]+)*(\.[A-Za-z0-9]+(-+[A-Za-z0-9]+)*)*$' then
    raise exception 'the address of the mail % is not an e-mail address', template using errcode = 'invalid_parameter_value';
  end if;
  if not exists (select from platform.mail_template where mail_template.name = template) then
    raise exception 'there is no template mail/%.txt for a mail of code', template using errcode = 'invalid_parameter_value';
  end if;
  if jsonb_typeof(data) <> 'object' then
    raise exception 'the data of the mail % is not a JSON object', template using errcode = 'invalid_parameter_value';
  end if;

  perform platform.mail_queue(template, lower(address), convert_to(coalesce(data, '{}')::text, 'UTF8'), interval '3 days');
end;
$$;

comment on function platform.send_mail(text, text, jsonb) is 'Queues a mail to an address, by a template of the project.';
grant execute on function platform.send_mail(text, text, jsonb) to sternpost_code;
