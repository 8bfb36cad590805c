-- Rows to lock in a database without advisory locks: see platform.take_turn. Not granted to any role.

create table platform.turn (
  kind text collate "C" not null,
  number int not null,
  constraint turn_pkey primary key (kind, number)
);

comment on table platform.turn is 'Rows to lock, for those who take turns in a database without advisory locks.';

insert into platform.turn (kind, number)
select kind.name, number
from unnest(array['account', 'address', 'identity', 'minter', 'key']) as kind (name)
cross join generate_series(0, 63) as number;
