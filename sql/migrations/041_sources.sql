-- The sources of a list and its rules are two arrays.
drop function if exists platform.pick_page(
  jsonb, platform.sort_key[], text, text, text, platform.way[], boolean, platform.way[], text[], text[], text[], regclass[], bigint[], text
);
