-- A text with some of its pieces replaced, by which a migration gives the changes of a long text. Each piece is {from,
-- to, replacement}: it replaces the bytes after `from`, up to and including `to`, counted in UTF-8. Pieces are in
-- order.
create or replace function platform.spliced(base text, pieces text[]) returns text
language plpgsql
immutable
security invoker
as $$
declare
  v_base bytea := convert_to(base, 'UTF8');
  v_before bytea; -- with all pieces, up to the end of the last one
begin
  select string_agg(
    substring(v_base from piece.previous + 1 for piece.starts - piece.previous) || convert_to(piece.replacement, 'UTF8'),
    ''
    order by piece.place
  )
  into v_before
  from (
    select
      place,
      coalesce(pieces[place - 1][2], '0')::int as previous,
      pieces[place][1]::int as starts,
      pieces[place][3] as replacement
    from generate_subscripts(pieces, 1) as place
  ) as piece;

  return convert_from(
    coalesce(v_before, '') || substring(v_base from coalesce(pieces[array_length(pieces, 1)][2], '0')::int + 1),
    'UTF8'
  );
end;
$$;

comment on function platform.spliced(text, text[]) is 'A text with some of its pieces replaced.';
