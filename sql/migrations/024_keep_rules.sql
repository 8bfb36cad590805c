-- It takes several schemas, so that the rules of all of them are read once.
drop function if exists platform.keep_rules(text);
