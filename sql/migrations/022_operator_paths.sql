-- The functions of lists read the operators of a request through platform.operator_paths.

drop function if exists platform.operators(jsonb);
