-- Functions of actions enter their call by themselves: each sets what is read of it, and no more.

-- In a new database no function is there yet.
drop function if exists platform.enter_named(text, jsonb);
drop function if exists platform.bind_input(text, text);
