-- What the functions of lists hand to platform.pick_page: an array of arrays that need not be of one length.
create type platform.text_list as (list text[]);

comment on type platform.text_list is 'One of several lists of texts.';
