-- The description of a facet that the functions of lists pass to platform.facets: its name in the answer, how its
-- values are summarized (see platform.facet_sql), and whether the list can be filtered by its field. Such a filter
-- applies to the other facets only.
create type platform.facet as (
  name text,
  form text,
  is_filtered boolean
);

comment on type platform.facet is 'One facet of a list.';
