package server

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/refusal"
)

// zoneNames are the names of the IANA database as Go 1.26 ships it, one a line. Names are
// not looked up with time.LoadLocation, since that depends on the machine: some ignore
// case, and take paths as names.
//
//go:embed zones.txt
var zoneNames string

// defaultZone is the zone of a request that names none, and the default of the database.
const defaultZone = "UTC"

// zones is a set of time zones by name.
type zones map[string]struct{}

func knownZones() zones {
	z := zones{}
	for name := range strings.Lines(zoneNames) {
		z[strings.TrimSuffix(name, "\n")] = struct{}{}
	}
	return z
}

// parse returns the zone that the Time-Zone headers of a request name.
func (z zones) parse(values [][]byte) (string, error) {
	if len(values) == 0 || len(values) == 1 && len(values[0]) == 0 {
		return defaultZone, nil
	}
	last := string(values[len(values)-1])
	if _, ok := z[last]; !ok || len(values) > 1 {
		return "", refusal.InputMalformed.Saying("invalid Time-Zone header: unknown time zone %s", refusal.Cut(last, 64))
	}
	return last, nil
}

// within returns the zones that the database knows by the same name. The operating system
// of the database decides which names it knows, and an unknown name must not reach a
// function.
func (z zones) within(names []string) zones {
	both := zones{}
	for _, name := range names {
		if _, ok := z[name]; ok {
			both[name] = struct{}{}
		}
	}
	return both
}

// databaseZones asks the database which of the zones it knows.
func databaseZones(ctx context.Context, conn *pgx.Conn, all zones) ([]string, error) {
	var names []string
	err := conn.QueryRow(ctx, "select platform.known_time_zones($1)", slices.Sorted(maps.Keys(all))).Scan(&names)
	if err != nil {
		return nil, fmt.Errorf("read the time zones of the database: %w", err)
	}
	return names, nil
}
