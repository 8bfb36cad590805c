// Package listener accepts connections and knows their state: how many there may be, in
// all and of one peer, which of them wait, which clients have left, and how one is closed
// whose client is still sending. It knows nothing of requests.
package listener
