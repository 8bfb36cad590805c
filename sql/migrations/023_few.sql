-- The list decides how many values are few.
drop function if exists platform.few(anyarray);
