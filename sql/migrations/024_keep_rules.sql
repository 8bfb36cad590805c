-- It takes several schemas, so that it reads the rules of all of them once.
drop function if exists platform.keep_rules(text);
