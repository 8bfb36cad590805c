-- Locks everything that a migration changes, before it changes anything. `written` are tables whose writers must wait,
-- `replaced` tables and views that nobody may use meanwhile.
--
-- Calls lock tables and views in any order, and keep their locks until they end. A migration that waits for one of them
-- while it holds another would wait for calls that wait for it. So it waits for a short time only, lets go of all that
-- it has, lets the calls go on, and tries again for a longer time, up to lock_timeout. All of it is shorter than the
-- second after which Postgres looks for deadlocks. First it waits for calls that write: they use a table before the view
-- of it that they read by, and lists do so the other way round. Not granted to any role.
create or replace function platform.lock_tables(written text[], replaced text[]) returns void
language plpgsql
volatile
security invoker
as $$
declare
  v_limit text := current_setting('lock_timeout');
  v_longest numeric := coalesce(nullif(extract(epoch from v_limit::interval), 0), 'Infinity');
  v_wait numeric := 0.025;
  v_waited numeric := 0;
begin
  loop
    begin
      perform set_config('lock_timeout', format('%sms', (least(v_wait, v_longest) * 1000)::int), true);
      if written <> '{}' then
        execute format('lock table %s in share row exclusive mode', array_to_string(written, ', '));
      end if;
      if replaced <> '{}' then
        execute format('lock table %s in access exclusive mode', array_to_string(replaced, ', '));
      end if;
      perform set_config('lock_timeout', v_limit, true);
      return;
    exception
      when lock_not_available then
        v_waited := v_waited + v_wait;
        if v_waited >= v_longest then
          raise;
        end if;
    end;
    perform pg_sleep(v_wait * random());
    v_wait := least(v_wait * 2, 0.8);
  end loop;
end;
$$;

comment on function platform.lock_tables(text[], text[]) is 'Locks everything that a migration changes, without deadlocks.';
