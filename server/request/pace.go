package request

import "time"

// paceRate is the minimum rate at which a client sends a body or takes a file, in bytes a second: a quarter of a megabit.
const paceRate = 32 << 10

// TransferReserve is how long a client may pause that sends or takes a file.
const TransferReserve = 5 * time.Second

// Pace holds a client to the minimum rate. It begins with a reserve of time, which a pause uses up and each byte refills,
// up to its size: so nobody can be quick at first and then hold a connection for hours.
type Pace struct {
	reserve time.Duration
	until   time.Time // when the reserve is used up
}

// NewPace begins a pace.
func NewPace(reserve time.Duration, now time.Time) Pace {
	return Pace{reserve, now.Add(reserve)}
}

// Until returns when the next bytes must have been moved, at the latest.
func (p *Pace) Until(bytes int64) time.Time { return p.until.Add(timeFor(bytes)) }

// Moved notes that bytes have been moved.
func (p *Pace) Moved(bytes int64, now time.Time) {
	p.until = p.Until(bytes)
	if full := now.Add(p.reserve); p.until.After(full) {
		p.until = full
	}
}

func timeFor(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / paceRate }
