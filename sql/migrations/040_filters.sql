-- The conditions of a filter know of groups.
drop function if exists platform.filter_sql(jsonb, jsonb, text[]);
