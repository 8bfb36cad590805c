// Package listener accepts connections and tracks their state: their number, in total and
// per peer, the waiting ones, and the clients that have left. It also closes a connection
// while its client is still sending. It does not know requests.
package listener
