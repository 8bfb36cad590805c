-- Gives a new row the next number of those that count per row of another table, and lets no two transactions take one at
-- once: whoever takes a number locks the counter until they commit. So a transaction that fails leaves no gap.
--
-- A number that the owner of the table writes stays, and the next ones come after it. Its arguments are the names of the
-- counter, of the numbered column and of the column that leads to the other row, the prefix, and the first number. It
-- runs with the rights of its owner, since nobody else has rights on platform.counter.
create or replace function platform.tg_number() returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row constant jsonb := to_jsonb(new);
  v_given constant text := v_row->>tg_argv[1];
  v_per constant text := v_row->>tg_argv[2];
  v_prefix constant text := tg_argv[3];
  v_number bigint := tg_argv[4];
begin
  if v_per is null then
    return new; -- the column's own constraint refuses it
  end if;

  if v_given is null then
    insert into platform.counter (sequence, per, last)
    values (tg_argv[0], v_per, v_number)
    on conflict (sequence, per) do update set last = greatest(counter.last + 1, excluded.last)
    returning counter.last into v_number;
    return jsonb_populate_record(new, jsonb_build_object(tg_argv[1], v_prefix || to_char(v_number, 'FM9999999999999990000')));
  end if;

  if starts_with(v_given, v_prefix) and substr(v_given, char_length(v_prefix) + 1) ~ '^([0-9]{4}|[1-9][0-9]{4,17})$' then
    insert into platform.counter (sequence, per, last)
    values (tg_argv[0], v_per, substr(v_given, char_length(v_prefix) + 1)::bigint)
    on conflict (sequence, per) do update set last = excluded.last
    where counter.last < excluded.last;
  end if;

  return new;
end;
$$;

comment on function platform.tg_number() is 'Gives rows the next number per row of another table, without gaps.';
