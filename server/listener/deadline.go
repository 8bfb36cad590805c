package listener

import "time"

// slack is how much earlier than asked for a deadline may end.
const slack = 50 * time.Millisecond

// deadline is a deadline of a connection, for reading or for writing. Each request asks for several later ones, and to
// set one changes a timer of the runtime. So it is set only when something is read or written, and stays if it is hardly
// earlier than the one asked for.
type deadline struct {
	wanted time.Time
	isSet  time.Time // on the socket
}

// want asks for a deadline; the zero time means none.
func (d *deadline) want(t time.Time) { d.wanted = t }

// isDue tells whether a deadline must be set on the socket before the next reading or writing, and takes it for set.
func (d *deadline) isDue() bool {
	if later := d.wanted.Sub(d.isSet); 0 <= later && later < slack {
		return false
	}
	d.isSet = d.wanted
	return true
}
