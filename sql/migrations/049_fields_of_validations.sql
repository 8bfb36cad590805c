-- The refusal of a rule may name a field.
drop function if exists platform.require_valid(text[]);
