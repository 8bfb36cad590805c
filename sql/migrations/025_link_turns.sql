-- Rows to lock in a database without advisory locks, for statements that move keys along which computed fields read.

insert into platform.turn (kind, number)
select 'link', number
from generate_series(0, 63) as number;
