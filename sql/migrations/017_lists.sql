-- The type that the functions of lists pass to platform.pick_page: an array of arrays that may differ in length.
create type platform.text_list as (list text[]);

comment on type platform.text_list is 'One of several lists of texts.';
