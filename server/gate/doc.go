// Package gate lets as many calls at a time through as there are connections, and decides
// who waits, in which order, and who is turned away.
//
// The line is adaptive. As long as it empties now and then, it is first come, first
// served. Once it has not been empty for a while, more comes than can be done, and then a
// fair line serves everybody too late: it works for clients that have given up. So the
// newest goes first, whose client is the likeliest to be there still, and those who
// wait are turned away after a part of the time, unless the line is short. (Maurer, Fail at Scale, ACM Queue 2015,
// describes the combination. CoDel alone drops from the head of a fair line, and would
// have to know how long clients wait.) The line is bounded: when it is full, who has
// waited longest makes room.
//
// No name, such as that of one slow action, has more than its share of the places.
package gate
