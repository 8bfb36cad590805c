-- How many values are few is the list's to say.
drop function if exists platform.few(anyarray);
