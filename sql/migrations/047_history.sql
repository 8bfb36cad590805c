drop function if exists platform.events_give_up(interval, integer);
