-- Hands a bicycle out, once it is mended and paid for.
create function functions.fetch_order(id text, paid numeric) returns app.repair_order
language plpgsql
volatile
security invoker
as $$
declare
  v_order app.repair_order;
  v_open numeric;
begin
  -- Two calls at the same time take turns.
  select *
  into v_order
  from app.repair_order
  where repair_order.id = fetch_order.id
  for update;

  if v_order.state is distinct from 'Mended' then
    raise exception 'the bicycle is not mended' using errcode = 'SP409';
  end if;

  select coalesce(sum(item.price * item.quantity), 0) - fetch_order.paid
  into v_open
  from app.item
  where item.order_id = fetch_order.id;

  if v_open > 0 then
    raise exception '% is still to be paid', trim_scale(v_open) using errcode = 'SP409';
  end if;

  update app.repair_order
  set
    state = 'Fetched',
    finished_at = coalesce(repair_order.finished_at, now())
  where repair_order.id = fetch_order.id
  returning *
  into v_order;

  return v_order;
end;
$$;
