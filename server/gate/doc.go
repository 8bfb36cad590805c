// Package gate admits as many calls at a time as there are connections. It decides which calls wait, in which
// order, and which are refused.
//
// The queue is adaptive. As long as it is short for its pace, it is first come, first served. If its last call would
// have to wait for long, the load exceeds the capacity. A fair queue would then serve every call too late, for clients
// that have given up. So the newest call goes first, since its client is most likely still there, and calls are
// refused after a part of the time, unless the queue is short. (Maurer, Fail at Scale, ACM Queue 2015, describes
// the combination. CoDel alone drops from the head of a fair queue, and would have to know how long clients wait.)
// The queue is bounded: when it is full, the call that has waited longest makes room.
//
// No name, such as that of one slow action, has more than its share of the places.
package gate
