-- The meaning of a relative expression ('today', 'last 7 complete days') at a moment in a time zone. The server has
-- validated the expression and the zone, so one that cannot be read is a mistake of Sternpost.
--
-- Minutes and hours are absolute and aligned to the local clock. Days and larger units are civil: they are counted on
-- the local calendar, with the same time of day and with the day of the month shortened if needed, and then turned into
-- an instant. If a local time does not exist, Postgres takes the offset before the gap; if it occurs twice, the later
-- one. Both are as wanted. The local bounds stay as counted: they are compared with dates, which do not have an offset.
create or replace function platform.relative_period(
  expression text,
  zone text,
  moment timestamptz
) returns platform.period
language plpgsql
stable
parallel safe
security invoker
as $$
declare
  -- Postgres prefers its abbreviations, of fixed offset, to the names of four zones that have summer time.
  v_zone text := case upper(zone collate "C")
    when 'CET' then 'Europe/Brussels'
    when 'MET' then 'Europe/Brussels'
    when 'EET' then 'Europe/Athens'
    when 'WET' then 'Europe/Lisbon'
    else zone
  end;
  v_expression text := lower(expression collate "C");
  v_words text[];
  v_anchor text;
  v_unit text;
  v_count bigint;
  v_is_rolling boolean;
  v_step interval;
  v_local timestamp := moment at time zone v_zone;
  v_period platform.period;
begin
  if v_expression = 'now' then
    return (moment, moment, v_local, v_local);
  end if;

  v_expression := case v_expression
    when 'today' then 'this day'
    when 'tomorrow' then 'next day'
    when 'yesterday' then 'last day'
    else v_expression
  end;
  v_words := regexp_match(
    v_expression,
    '^(this|next|last) +(?:([1-9][0-9]{0,4}) +)?(?:(complete) +)?(minute|hour|day|week|month|year)s?$'
  );
  if v_words is null or (v_words[1] = 'this' and v_words[2] is not null) then
    raise exception '"%" is not a relative period', expression using errcode = 'invalid_parameter_value';
  end if;
  v_anchor := v_words[1];
  v_count := coalesce(v_words[2], '1');
  v_is_rolling := v_words[2] is not null and v_words[3] is null;
  v_unit := v_words[4];

  if v_unit in ('minute', 'hour') then
    v_step := case v_unit when 'minute' then interval '60 seconds' else interval '3600 seconds' end;
    if v_is_rolling then
      v_period.starts_at := moment;
    else
      v_period.starts_at := moment - (v_local - date_trunc(v_unit, v_local));
    end if;
    case v_anchor
      when 'this' then
        v_period.ends_at := v_period.starts_at + v_step;
      when 'last' then
        v_period.ends_at := v_period.starts_at;
        v_period.starts_at := v_period.ends_at - v_count * v_step;
      when 'next' then
        if not v_is_rolling then
          v_period.starts_at := v_period.starts_at + v_step;
        end if;
        v_period.ends_at := v_period.starts_at + v_count * v_step;
    end case;
    v_period.local_starts_at := v_period.starts_at at time zone v_zone;
    v_period.local_ends_at := v_period.ends_at at time zone v_zone;
  else
    if v_unit = 'year' and v_anchor = 'last' then
      v_count := least(v_count, extract(year from v_local)); -- no further than before year 1, where the bound is cut off
    end if;
    v_step := ('1 ' || v_unit)::interval;
    if v_is_rolling then
      v_period.local_starts_at := v_local;
    else
      v_period.local_starts_at := date_trunc(v_unit, v_local);
    end if;
    case v_anchor
      when 'this' then
        v_period.local_ends_at := v_period.local_starts_at + v_step;
      when 'last' then
        v_period.local_ends_at := v_period.local_starts_at;
        v_period.local_starts_at := v_period.local_ends_at - v_count * v_step;
      when 'next' then
        if not v_is_rolling then
          v_period.local_starts_at := v_period.local_starts_at + v_step;
        end if;
        v_period.local_ends_at := v_period.local_starts_at + v_count * v_step;
    end case;
    -- A bound that is now stays this instant, also in an hour that occurs twice.
    v_period.starts_at := case
      when v_is_rolling and v_anchor = 'next' then moment
      else v_period.local_starts_at at time zone v_zone
    end;
    v_period.ends_at := case
      when v_is_rolling and v_anchor = 'last' then moment
      else v_period.local_ends_at at time zone v_zone
    end;
  end if;

  -- Bounds stay within the years that values may have.
  v_period.starts_at := least(greatest(v_period.starts_at, '0001-01-01 00:00:00Z'), '9999-12-31 23:59:59.999999Z');
  v_period.ends_at := least(greatest(v_period.ends_at, '0001-01-01 00:00:00Z'), '9999-12-31 23:59:59.999999Z');
  v_period.local_starts_at := least(greatest(v_period.local_starts_at, '0001-01-01 00:00:00'), '9999-12-31 23:59:59.999999');
  v_period.local_ends_at := least(greatest(v_period.local_ends_at, '0001-01-01 00:00:00'), '9999-12-31 23:59:59.999999');
  return v_period;
end;
$$;

comment on function platform.relative_period(text, text, timestamptz) is 'The period of a relative expression.';
grant execute on function platform.relative_period(text, text, timestamptz) to sternpost_caller, sternpost_code;
