-- Runs as the caller, under the rules of the models: a business sees its customers, and a customer sees
-- their own account. For everybody else the customer does not exist.
create function functions.statement(id text, since date, until date) returns jsonb
language plpgsql
stable
security invoker
as $$
declare
  v_customer text;
  v_opening numeric;
  v_change numeric;
  v_entries jsonb;
begin
  select customer.name into v_customer from app.customer where customer.id = statement.id;
  if v_customer is null then
    raise exception 'the customer does not exist' using errcode = 'SP404';
  end if;

  with entry as (
    select
      invoice.issued_on as day, invoice.number as text, invoice.created_at,
      case when invoice.is_credit_note then -invoice.total else invoice.total end as change
    from app.invoice
    where invoice.customer_id = statement.id and invoice.state = 'Sent'
    union all
    select payment.paid_on, invoice.number, payment.created_at, -payment.amount
    from app.payment
    join app.invoice on invoice.id = payment.invoice_id
    where invoice.customer_id = statement.id
    union all
    select refund.refunded_on, refund.reason, refund.created_at, refund.amount
    from app.refund
    join app.payment on payment.id = refund.payment_id
    join app.invoice on invoice.id = payment.invoice_id
    where invoice.customer_id = statement.id
  )
  select
    coalesce(sum(entry.change) filter (where entry.day < since), 0),
    coalesce(sum(entry.change) filter (where entry.day between since and until), 0),
    coalesce(
      jsonb_agg(
        jsonb_build_object(
          'day', entry.day,
          'text', entry.text,
          'debit', case when entry.change >= 0 then entry.change end,
          'credit', case when entry.change < 0 then -entry.change end
        )
        order by entry.day, entry.created_at
      ) filter (where entry.day between since and until),
      '[]'
    )
  into v_opening, v_change, v_entries
  from entry;

  return jsonb_build_object(
    'customer', v_customer, 'opening', v_opening, 'entries', v_entries, 'closing', v_opening + v_change);
end;
$$;
