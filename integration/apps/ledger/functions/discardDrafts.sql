-- Discards the drafts that nobody has touched for a year. The rule that names the job opens drafts only.
create function functions.discard_drafts() returns jsonb
language plpgsql
volatile
security invoker
as $$
declare
  v_count integer;
begin
  delete from app.invoice where invoice.updated_at < now() - interval '1 year';
  get diagnostics v_count = row_count;
  return jsonb_build_object('discarded', v_count);
end;
$$;
