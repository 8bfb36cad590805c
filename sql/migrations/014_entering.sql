-- Functions of actions enter their call by themselves: each sets only what the call reads.

-- A new database does not have the functions yet.
drop function if exists platform.enter_named(text, jsonb);
drop function if exists platform.bind_input(text, text);
