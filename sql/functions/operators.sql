-- The operators of lists, by kind of value: first those of any value of the kind, then those of values that may be
-- null, which take precedence. Each is a condition on a value of a row, %1$s, as SQL for `format`; its operand is in
-- the filter of the request, $1, at the path %2$L. A kind in [] is an array as a whole.
--
-- Texts are compared without regard to case, except for equality. An index serves the beginnings of an `indexed Text`,
-- by platform.fold. A Date does not have a zone: it is compared with a period on the caller's calendar.
create or replace function platform.operators() returns jsonb
language sql
immutable
parallel safe
security invoker
as $$
  select '{
    "ID": [{
      "equals": "%1$s = $1#>>%2$L",
      "notEquals": "%1$s <> $1#>>%2$L",
      "oneOf": "%1$s = any (platform.texts($1#>%2$L))"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from $1#>>%2$L",
      "notEquals:null": "%1$s is not null"
    }],
    "Text": [{
      "equals": "%1$s = $1#>>%2$L",
      "notEquals": "%1$s <> $1#>>%2$L",
      "startsWith": "starts_with(lower(%1$s), lower($1#>>%2$L))",
      "endsWith": "starts_with(reverse(lower(%1$s)), reverse(lower($1#>>%2$L)))",
      "contains": "strpos(lower(%1$s), lower($1#>>%2$L)) > 0",
      "oneOf": "%1$s = any (platform.texts($1#>%2$L))"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from $1#>>%2$L",
      "notEquals:null": "%1$s is not null"
    }],
    "indexed Text": [{
      "equals": "%1$s = $1#>>%2$L",
      "notEquals": "%1$s <> $1#>>%2$L",
      "startsWith": "starts_with(platform.fold(%1$s) collate \"C\", platform.fold($1#>>%2$L)) and starts_with(lower(%1$s), lower($1#>>%2$L))",
      "endsWith": "starts_with(reverse(lower(%1$s)), reverse(lower($1#>>%2$L)))",
      "contains": "strpos(lower(%1$s), lower($1#>>%2$L)) > 0",
      "oneOf": "%1$s = any (platform.texts($1#>%2$L))"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from $1#>>%2$L",
      "notEquals:null": "%1$s is not null"
    }],
    "Number": [{
      "equals": "%1$s = ($1#>>%2$L)::bigint",
      "notEquals": "%1$s <> ($1#>>%2$L)::bigint",
      "lessThan": "%1$s < ($1#>>%2$L)::bigint",
      "lessThanOrEquals": "%1$s <= ($1#>>%2$L)::bigint",
      "greaterThan": "%1$s > ($1#>>%2$L)::bigint",
      "greaterThanOrEquals": "%1$s >= ($1#>>%2$L)::bigint",
      "oneOf": "%1$s = any (platform.texts($1#>%2$L)::bigint[])"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from ($1#>>%2$L)::bigint",
      "notEquals:null": "%1$s is not null"
    }],
    "Decimal": [{
      "equals": "%1$s = ($1#>>%2$L)::numeric",
      "notEquals": "%1$s <> ($1#>>%2$L)::numeric",
      "lessThan": "%1$s < ($1#>>%2$L)::numeric",
      "lessThanOrEquals": "%1$s <= ($1#>>%2$L)::numeric",
      "greaterThan": "%1$s > ($1#>>%2$L)::numeric",
      "greaterThanOrEquals": "%1$s >= ($1#>>%2$L)::numeric",
      "oneOf": "%1$s = any (platform.texts($1#>%2$L)::numeric[])"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from ($1#>>%2$L)::numeric",
      "notEquals:null": "%1$s is not null"
    }],
    "Boolean": [{
      "equals": "%1$s = ($1#>>%2$L)::boolean",
      "notEquals": "%1$s <> ($1#>>%2$L)::boolean"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from ($1#>>%2$L)::boolean",
      "notEquals:null": "%1$s is not null"
    }],
    "Timestamp": [{
      "before": "%1$s < ($1#>>%2$L)::timestamptz",
      "after": "%1$s > ($1#>>%2$L)::timestamptz",
      "beforeRelative": "%1$s < (platform.current_period($1#>>%2$L)).starts_at",
      "afterRelative": "%1$s >= (platform.current_period($1#>>%2$L)).ends_at",
      "equalsRelative": "%1$s >= (platform.current_period($1#>>%2$L)).starts_at and %1$s < (platform.current_period($1#>>%2$L)).ends_at"
    }, {}],
    "Date": [{
      "equals": "%1$s = ($1#>>%2$L)::date",
      "notEquals": "%1$s <> ($1#>>%2$L)::date",
      "before": "%1$s < ($1#>>%2$L)::date",
      "onOrBefore": "%1$s <= ($1#>>%2$L)::date",
      "after": "%1$s > ($1#>>%2$L)::date",
      "onOrAfter": "%1$s >= ($1#>>%2$L)::date",
      "beforeRelative": "%1$s < (platform.current_period($1#>>%2$L)).local_starts_at",
      "afterRelative": "%1$s >= (platform.current_period($1#>>%2$L)).local_ends_at",
      "equalsRelative": "%1$s >= (platform.current_period($1#>>%2$L)).local_starts_at and %1$s < (platform.current_period($1#>>%2$L)).local_ends_at"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from ($1#>>%2$L)::date",
      "notEquals:null": "%1$s is not null"
    }],
    "Duration": [{
      "equals": "%1$s = ($1#>>%2$L)::interval",
      "notEquals": "%1$s <> ($1#>>%2$L)::interval",
      "lessThan": "%1$s < ($1#>>%2$L)::interval",
      "lessThanOrEquals": "%1$s <= ($1#>>%2$L)::interval",
      "greaterThan": "%1$s > ($1#>>%2$L)::interval",
      "greaterThanOrEquals": "%1$s >= ($1#>>%2$L)::interval"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from ($1#>>%2$L)::interval",
      "notEquals:null": "%1$s is not null"
    }],
    "Enum": [{
      "equals": "%1$s = $1#>>%2$L",
      "notEquals": "%1$s <> $1#>>%2$L",
      "oneOf": "%1$s = any (platform.texts($1#>%2$L))"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from $1#>>%2$L",
      "notEquals:null": "%1$s is not null"
    }],
    "ID[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)",
      "notEquals:null": "%1$s is not null"
    }],
    "Text[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)",
      "notEquals:null": "%1$s is not null"
    }],
    "Number[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)::bigint[]",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)::bigint[]"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)::bigint[]",
      "notEquals:null": "%1$s is not null"
    }],
    "Decimal[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)::numeric[]",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)::numeric[]"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)::numeric[]",
      "notEquals:null": "%1$s is not null"
    }],
    "Boolean[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)::boolean[]",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)::boolean[]"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)::boolean[]",
      "notEquals:null": "%1$s is not null"
    }],
    "Timestamp[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)::timestamptz[]",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)::timestamptz[]"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)::timestamptz[]",
      "notEquals:null": "%1$s is not null"
    }],
    "Date[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)::date[]",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)::date[]"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)::date[]",
      "notEquals:null": "%1$s is not null"
    }],
    "Duration[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)::interval[]",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)::interval[]"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)::interval[]",
      "notEquals:null": "%1$s is not null"
    }],
    "Enum[]": [{
      "equals": "%1$s = platform.texts($1#>%2$L)",
      "notEquals": "%1$s <> platform.texts($1#>%2$L)"
    }, {
      "equals:null": "%1$s is null",
      "notEquals": "%1$s is distinct from platform.texts($1#>%2$L)",
      "notEquals:null": "%1$s is not null"
    }]
  }'::jsonb;
$$;

comment on function platform.operators() is 'The operators of lists, as SQL, by the kinds of values.';
grant execute on function platform.operators() to sternpost_caller, sternpost_code;
