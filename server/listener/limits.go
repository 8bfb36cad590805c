package listener

import (
	"fmt"
	"math"
	"net/netip"
	"runtime/debug"
)

const (
	// mostConnections limits connections unless the configuration sets more: it limits
	// their memory on a machine with unlimited memory.
	mostConnections = 20000
	// connectionMemory is the approximate memory of an idle connection.
	connectionMemory = 32 << 10
	// otherDescriptors is the number that the process needs besides those of clients and
	// of the database: for files, storage, providers, metrics and the log.
	otherDescriptors = 64
)

// NewLimits returns the limits of connections. One peer may have half.
func NewLimits(configured, poolSize int, trusted []netip.Prefix) (Limits, error) {
	most, err := connectionsOf(configured, poolSize, descriptorLimit(), debug.SetMemoryLimit(-1))
	if err != nil {
		return Limits{}, err
	}
	return Limits{All: most, perPeer: max(1, most/2), trusted: trusted}, nil
}

// connectionsOf returns the maximum number of connections for a process with these
// descriptors and this memory: the configured number, or else three quarters of the
// descriptors and a quarter of the memory. It fails if the descriptors do not suffice.
func connectionsOf(configured, poolSize int, descriptors, memory int64) (int, error) {
	// Cancelling a statement needs a second connection.
	own := int64(otherDescriptors + 2*poolSize)
	if configured != 0 {
		if int64(configured) > descriptors-own {
			return 0, fmt.Errorf("server.maxConnections is %d, but the process may open only %d files at once (ulimit -n) and needs %d of them itself: lower it, or raise the limit",
				configured, descriptors, own)
		}
		return configured, nil
	}
	if descriptors <= own {
		return 0, fmt.Errorf("the process may open only %d files at once and needs %d itself: raise the limit (ulimit -n)", descriptors, own)
	}
	most := min(mostConnections, descriptors-max(own, descriptors/4))
	if memory != math.MaxInt64 {
		most = min(most, max(16, memory/4/connectionMemory))
	}
	return int(most), nil
}
