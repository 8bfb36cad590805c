-- Those who take turns do so by advisory locks. The rows were for databases without them.

drop table platform.turn;
