package replica

import (
	"fmt"
	"strconv"
	"strings"
)

// Position is a position in the log of a database, in Postgres' count. Everything written
// before it is visible once the log has been replayed that far. 0 is before everything.
type Position uint64

// ParsePosition reads the form that Postgres writes, 16/B374D848.
func ParsePosition(text string) (Position, error) {
	high, low, ok := strings.Cut(text, "/")
	h, errHigh := strconv.ParseUint(high, 16, 32)
	l, errLow := strconv.ParseUint(low, 16, 32)
	if !ok || errHigh != nil || errLow != nil {
		return 0, fmt.Errorf("%q is not a position of a log", text)
	}
	return Position(h<<32 | l), nil
}

// String writes a position as Postgres does.
func (p Position) String() string { return fmt.Sprintf("%X/%X", uint64(p)>>32, uint64(p)&0xFFFFFFFF) }
