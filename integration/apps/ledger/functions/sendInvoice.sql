-- No caller may read lines by themselves, so this runs with the rights of its owner. The rule of the
-- action has been applied to the invoice already: it is a draft of the caller's business.
create function functions.send_invoice(id text) returns app.invoice
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_invoice app.invoice;
begin
  if not exists (select from app.line where line.invoice_id = send_invoice.id) then
    raise exception 'an invoice without lines cannot be sent' using errcode = 'SP409';
  end if;

  update app.invoice
  set state = 'Sent'
  where invoice.id = send_invoice.id
  returning * into v_invoice;
  return v_invoice;
end;
$$;
