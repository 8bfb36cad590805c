-- A page of the history of a record, the newest change first. shown is the function in api that says what of a kept row
-- the API shows. A cursor is the place of an entry in the history of this record. Not granted to custom code, which
-- could read past the rules: the function of an action has asked them.
create or replace function platform.history_page(relation regclass, shown text, record text, input jsonb) returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mark text := left(md5(record), 8);
  v_cursor jsonb;
  v_after bigint;
  v_first bigint;
  v_last bigint;
  v_results jsonb;
begin
  if input ? 'after' then
    begin
      v_cursor := convert_from(
        decode(rpad(translate(input->>'after', '-_', '+/'), (length(input->>'after') + 3) / 4 * 4, '='), 'base64'), 'UTF8'
      );
      v_after := case when v_cursor->0 = '1' and v_cursor->>1 = v_mark then v_cursor->>2 end;
    exception when data_exception then
      null; -- refused below
    end;
    if v_after is null then
      raise exception 'one or more errors found validating request object' using
        errcode = 'SP400',
        detail = '{"errors": [{"field": "after", "code": "cursor", "error": "is not a cursor of this list"}]}';
    end if;
  end if;

  execute format(
    $query$
      select
        max(page.seq),
        min(page.seq),
        jsonb_agg(
          jsonb_build_object(
            'at', platform.iso(page.at),
            'kind', page.kind,
            'identityId', page.identity_id,
            'action', page.action,
            'requestId', page.request_id,
            'fields', array(
              select member.name
              from jsonb_object_keys(coalesce(page.after, page.before)) as member (name)
              where coalesce(page.before->member.name, 'null') <> coalesce(page.after->member.name, 'null')
                and member.name <> 'updatedAt'
            ),
            'before', page.before,
            'after', page.after
          )
          order by page.seq desc
        )
      from (
        select
          history.*,
          api.%1$I(history.previous) as before,
          api.%1$I(history.data) as after
        from platform.history
        where history.relation = $1
          and history.record = $2
          and history.seq < $3
        order by history.seq desc
        limit $4
      ) as page
    $query$,
    shown
  )
  using relation, record, coalesce(v_after, 9223372036854775807), coalesce((input->>'first')::integer, 50)
  into v_first, v_last, v_results;

  return jsonb_build_object(
    'results', coalesce(v_results, '[]'),
    'pageInfo', jsonb_build_object(
      'startCursor', platform.history_cursor(v_mark, v_first),
      'endCursor', platform.history_cursor(v_mark, v_last),
      'hasNextPage', exists (
        select
        from platform.history
        where history.relation = history_page.relation
          and history.record = history_page.record
          and history.seq < coalesce(v_last, v_after)
      ),
      'hasPreviousPage', exists (
        select
        from platform.history
        where history.relation = history_page.relation
          and history.record = history_page.record
          and history.seq > coalesce(v_first, v_after - 1)
      ),
      'count', jsonb_array_length(coalesce(v_results, '[]'))
    )
  );
end;
$$;

comment on function platform.history_page(regclass, text, text, jsonb) is 'A page of the history of a record.';
grant execute on function platform.history_page(regclass, text, text, jsonb) to sternpost_caller;
