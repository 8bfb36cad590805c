-- The functions of lists take the operators of a request by platform.operator_paths.

drop function if exists platform.operators(jsonb);
