-- Servers make cursors and pages, and read cursors; functions receive the position.
drop function if exists platform.list_page(text[], text, text, boolean, boolean, integer, bigint, bigint);
drop function if exists platform.list_cursor(json);
drop function if exists platform.cursor(text, json, platform.sort_key[]);
drop function if exists platform.read_cursor(jsonb, text, platform.sort_key[]);
drop function if exists platform.list_mark(text, platform.sort_key[]);
