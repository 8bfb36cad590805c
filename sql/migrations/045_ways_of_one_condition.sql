-- A way in which rows of a list are found has one condition.
drop function if exists platform.stretch_sql(platform.way[], text, text, text, text, text);
drop function if exists platform.at_sql(platform.sort_key[], jsonb);
drop function if exists platform.merged_sql(
  platform.way[], text, text, text, boolean, text, platform.sort_key[], boolean, text, text
);
drop function if exists platform.pick_page(
  jsonb, platform.sort_key[], text, text, text, text[], text[], boolean, platform.way[], text[], text[], text[], regclass[], bigint[], text
);
alter type platform.way rename attribute conditions to condition;
alter type platform.way alter attribute condition type text;
