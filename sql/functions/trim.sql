-- A text without white space at its ends, which is that of Unicode, as in @notBlank. Postgres by itself would remove blanks only.
create or replace function platform.trim(content text) returns text
language sql
immutable
parallel safe
security invoker
as $$
  select btrim(
    content,
    E' \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'
  );
$$;

comment on function platform.trim(text) is 'A text without white space at its ends.';
grant execute on function platform.trim(text) to sternpost_caller, sternpost_code;
