-- The event that a subscriber gets. target is what the subscriber's function says of the change: the variable of the
-- model, and the row as the API writes it. The id depends on the change alone, so a repetition has the same.
create or replace function platform.event(change platform.change, told jsonb) returns jsonb
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moment text := lpad(to_hex(floor(extract(epoch from change.at) * 1000)::bigint), 12, '0');
  v_seq text := lpad(to_hex(change.seq), 18, '0');
  v_target jsonb := jsonb_build_object('id', change.record, 'type', change.model);
  v_event jsonb := jsonb_build_object(
    'id', format(
      '%s-%s-7%s-8%s-%s', left(v_moment, 8), right(v_moment, 4), left(v_seq, 3), substr(v_seq, 4, 3), right(v_seq, 12)
    ),
    'eventName', (told->>'variable') || '.' || change.kind || 'd',
    'occurredAt', platform.iso(change.at),
    'identityId', change.identity_id,
    'action', change.action,
    'requestId', change.request_id
  );
  v_whole jsonb := v_event || jsonb_build_object('target', v_target || (told - 'variable'));
begin
  if octet_length(v_whole::text) > 1048576 then
    return v_event || jsonb_build_object('truncated', true, 'target', v_target);
  end if;
  return v_whole;
end;
$$;

comment on function platform.event(platform.change, jsonb) is 'The event that a subscriber gets.';
