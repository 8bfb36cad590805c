-- What the functions of lists tell platform.facets of each: its name in the answer, what is told of its values (see platform.facet_sql),
-- and whether the list can be filtered by its field, which then binds the other facets only.
create type platform.facet as (
  name text,
  form text,
  is_filtered boolean
);

comment on type platform.facet is 'One facet of a list.';
