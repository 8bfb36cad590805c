-- A small application by hand: what the compiler would print, and some functions that it never would, to make the server
-- meet every error that a database can raise.

create table app.author (
  id text collate "C" not null default platform.new_id(),
  name text not null,
  constraint author_pkey primary key (id)
);

create table app.note (
  id text collate "C" not null default platform.new_id(),
  title text not null,
  slug text,
  shelf text,
  place bigint,
  author_id text collate "C",
  constraint note_pkey primary key (id),
  constraint note_slug_key unique (slug),
  constraint note_shelf_place_key unique (shelf, place),
  constraint note_validate_01 check (title <> 'forbidden'),
  constraint note_place_check check (place < 1000),
  constraint note_author_id_fkey foreign key (author_id) references app.author (id)
);

create table app.identity (
  id text collate "C" not null default platform.new_id(),
  email text,
  external_id text,
  issuer text,
  name text,
  email_verified boolean not null default false,
  password text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint identity_pkey primary key (id),
  constraint identity_email_issuer_key unique (email, issuer),
  constraint identity_issuer_external_id_key unique (issuer, external_id)
);

create unique index identity_email_key on app.identity (email) where password is not null;

alter table app.identity enable row level security;
alter table app.author enable row level security;
alter table app.note enable row level security;
create policy author_all on app.author to sternpost_caller using (true) with check (true);
create policy note_all on app.note to sternpost_caller using (true) with check (true);
grant select, insert, delete on app.author to sternpost_caller;
grant select, insert, update, delete on app.note to sternpost_caller;

create sequence functions.attempt;
grant usage on sequence functions.attempt to sternpost_caller;
grant usage on schema functions to sternpost_caller;

create view related.identity as select author.id from app.author;
grant select on related.identity to sternpost_caller;

create function functions.sneak() returns bigint
language sql
volatile
as $$
  insert into app.author (id, name) values ('sneaked', 'in') returning 1::bigint;
$$;

grant execute on function functions.sneak() to sternpost_caller;

-- Makes a function of schema api from its body, as the compiler would declare it.
create procedure public.declare_function(name text, volatility text, body text, further text default '')
language plpgsql
as $outer$
begin
  execute format(
    $text$
      create or replace function api.%I(input jsonb, context jsonb%s) returns text
      language plpgsql
      %s
      security definer
      set search_path = pg_catalog, pg_temp
      as %L
    $text$,
    name, further, volatility, body
  );
  execute format('grant create on schema api to sternpost_caller');
  execute format('alter function api.%I owner to sternpost_caller', name);
  execute format('revoke create on schema api from sternpost_caller');
  execute format('grant execute on function api.%I to sternpost_server', name);
end;
$outer$;

call public.declare_function('get_note', 'stable', $$
begin
  perform platform.enter('getNote', context);
  return (
    select row_to_json(record)::text
    from (select note.id, note.title, note.slug from app.note where note.id = input->>'id') as record
  );
end;
$$);

call public.declare_function('create_note', 'volatile', $$
declare
  v_result text;
begin
  perform platform.enter('createNote', context);
  insert into app.note (title, slug, shelf, place, author_id)
  select input->>'title', input->>'slug', input->>'shelf', (input->>'place')::bigint, coalesce(input->'author'->>'id', input->>'writer')
  returning (select row_to_json(record)::text from (select note.id as "id", note.title as "title") as record) into v_result;
  insert into app.note (title, slug)
  select twin->>'title', twin->>'slug' from jsonb_array_elements(coalesce(input->'twins', '[]')) as twin;
  return v_result;
end;
$$);

call public.declare_function('update_note', 'volatile', $$
begin
  perform platform.enter('updateNote', context);
  update app.note set title = input->'values'->>'title' where note.id = input->'where'->>'id';
  if not found then
    perform platform.refuse_or_miss(false);
  end if;
  return '{}';
end;
$$);

call public.declare_function('delete_author', 'volatile', $$
begin
  perform platform.enter('deleteAuthor', context);
  delete from app.author where author.id = input->>'id';
  return to_json(input->>'id')::text;
end;
$$);

call public.declare_function('list_notes', 'stable', $$
begin
  perform platform.enter('listNotes', context);
  return '{"form":"general"}';
end;
$$);

call public.declare_function('list_notes__foreseen', 'stable', $$
begin
  perform platform.enter('listNotes', context);
  return '{"form":"' || form || '"}';
end;
$$, ', form text');

call public.declare_function('nap', 'stable', $$
begin
  perform platform.enter('nap', context);
  perform pg_sleep((input->>'seconds')::float);
  return '"rested"';
end;
$$);

call public.declare_function('who_am_i', 'stable', $$
begin
  perform platform.enter('custom code', context);
  return context::text;
end;
$$);

call public.declare_function('sneak', 'stable', $$
begin
  perform platform.enter('sneak', context);
  return functions.sneak()::text;
end;
$$);

-- Loses against an imagined other as often as it is told.
call public.declare_function('lose', 'volatile', $$
begin
  perform platform.enter('lose', context);
  if nextval('functions.attempt') <= (input->>'times')::bigint then
    raise exception 'lost' using errcode = coalesce(input->>'code', '40001');
  end if;
  return '"won"';
end;
$$);

call public.declare_function('fail', 'volatile', $$
begin
  perform platform.enter('fail', context);
  raise exception '%', input->>'message' using
    errcode = input->>'code',
    detail = coalesce(input->>'detail', '');
end;
$$);

call public.declare_function('fail_reading', 'stable', $$
begin
  raise exception 'reading' using errcode = input->>'code';
end;
$$);

call public.declare_function('hold', 'volatile', $$
begin
  perform platform.enter('hold', context);
  update app.note set title = title where note.id = input->>'id';
  perform pg_sleep((input->>'seconds')::float);
  return '"held"';
end;
$$);

call public.declare_function('snoop', 'volatile', $$
begin
  perform platform.enter('snoop', context);
  update app.author set name = 'snooped';
  return 'null';
end;
$$);

insert into app.author (id, name) values ('ada', 'Ada'), ('bob', 'Bob');
insert into app.note (id, title, slug, author_id) values ('n1', 'Knots', 'knots', 'ada');
