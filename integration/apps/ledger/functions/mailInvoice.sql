-- Tells a customer of the invoice that was sent to them.
create function functions.mail_invoice(event jsonb) returns void
language sql
volatile
security invoker
as $$
  select platform.send_mail(customer.email, 'invoice', jsonb_build_object(
    'business', business.name,
    'name', customer.name,
    'number', event #>> '{target,data,number}',
    'dueOn', event #>> '{target,data,dueOn}'
  ))
  from app.customer
  join app.business on business.id = customer.business_id
  where customer.id = event #>> '{target,data,customerId}';
$$;
