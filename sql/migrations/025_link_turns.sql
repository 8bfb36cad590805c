-- Rows to lock for statements that move keys to which computed fields lead, where a database has no advisory locks.

insert into platform.turn (kind, number)
select 'link', number
from generate_series(0, 63) as number;
