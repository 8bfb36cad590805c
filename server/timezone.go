package server

import (
	_ "embed"
	"strings"
)

// zoneNames are the names of the IANA database as Go 1.26 ships it, one a line. A
// name is looked up here and not with time.LoadLocation, which depends on the
// machine: on some its spelling does not count, and paths may be names.
//
//go:embed zones.txt
var zoneNames string

// zones is a set of time zones by name.
type zones map[string]struct{}

func knownZones() zones {
	z := zones{}
	for name := range strings.Lines(zoneNames) {
		z[strings.TrimSuffix(name, "\n")] = struct{}{}
	}
	return z
}

// read returns the zone that the Time-Zone headers of a request name.
func (z zones) read(values [][]byte) (string, error) {
	if len(values) == 0 || len(values) == 1 && len(values[0]) == 0 {
		return "UTC", nil
	}
	last := string(values[len(values)-1])
	if _, ok := z[last]; !ok || len(values) > 1 {
		return "", inputMalformed.saying("invalid Time-Zone header: unknown time zone %s", cut(last, 64))
	}
	return last, nil
}
