-- The costs of an order, line by line. Row security shows the caller's orders and items only.
create function functions.bill(id text) returns jsonb
language plpgsql
stable
security invoker
as $$
declare
  v_number text := (select repair_order.number from app.repair_order where repair_order.id = bill.id);
begin
  if v_number is null then
    raise exception 'the order does not exist' using errcode = 'SP404';
  end if;

  return (
    select jsonb_build_object(
      'number', v_number,
      'lines', coalesce(
        jsonb_agg(jsonb_build_object('what', item.what, 'amount', item.price * item.quantity) order by item.id),
        '[]'
      ),
      'total', coalesce(sum(item.price * item.quantity), 0),
      'labour', platform.iso_duration(coalesce(sum(item.labour), interval '0'))
    )
    from app.item
    where item.order_id = bill.id
  );
end;
$$;
