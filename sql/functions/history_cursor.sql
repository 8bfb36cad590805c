-- The cursor of an entry in a history; empty for none. Not granted to any role: only functions beside it use it.
create or replace function platform.history_cursor(mark text, seq bigint) returns text
language sql
immutable
security invoker
as $$
  select case
    when seq is null then ''
    else rtrim(translate(encode(convert_to(format('[1,"%s",%s]', mark, seq), 'UTF8'), 'base64'), '+/', '-_'), '=')
  end;
$$;

comment on function platform.history_cursor(text, bigint) is 'The cursor of an entry in a history.';
