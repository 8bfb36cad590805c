package sql

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// State is the installed platform: the number of migrations, and the text of each
// function.
type State struct {
	Version   int               `json:"version"`
	Functions map[string]string `json:"functions"` // file → digest
}

// Current returns the state that this build installs.
func Current() State {
	s := State{Version: Version(), Functions: map[string]string{}}
	for _, name := range functionNames() {
		s.Functions[name] = digest(readEmbedded("functions/" + name))
	}
	return s
}

// Upgrade returns one SQL text that brings the platform from a state to that of this
// build, to run in one transaction; empty if it is there already. The text refuses a
// platform of another version. The zero state is an empty database. A state newer than
// this build returns an error.
func Upgrade(from State) (string, error) {
	switch {
	case from.Version == 0:
		return Script(), nil
	case from.Version > Version():
		return "", fmt.Errorf("%w (version %d, known up to %d)", ErrNewerPlatform, from.Version, Version())
	}
	var b strings.Builder
	for _, name := range migrationNames()[from.Version:] {
		fmt.Fprintf(&b, "-- %s\n\n%s\n", name, readEmbedded("migrations/"+name))
	}
	if from.Version < Version() {
		fmt.Fprintf(&b, "update platform.schema_version set version = %d;\n\n", Version())
	}
	current := Current()
	for _, name := range functionNames() {
		if from.Functions[name] != current.Functions[name] {
			fmt.Fprintf(&b, "%s\n", readEmbedded("functions/"+name))
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	return requireSQL(from.Version) + b.String() + closingSQL() + setHashSQL(), nil
}

// closingSQL is the part of install.sql after all functions.
func closingSQL() string {
	text := readEmbedded("functions/install.sql")
	all := included.FindAllIndex(text, -1)
	return string(text[all[len(all)-1][1]:]) + "\n"
}

// requireSQL refuses a platform of another version than the following text expects.
func requireSQL(version int) string {
	return fmt.Sprintf(`do $$
begin
  if (select schema_version.version from platform.schema_version) <> %[1]d then
    raise exception 'the platform has version %%, and this migration expects %[1]d', (select schema_version.version from platform.schema_version) using
      errcode = 'object_not_in_prerequisite_state',
      hint = 'The platform was changed from outside of the migrations. Run: sternpost migrate status';
  end if;
end;
$$;

`, version)
}

// included matches the lines of install.sql that include a function.
var included = regexp.MustCompile(`(?m)^\{\{ template "([a-z_0-9]+\.sql)" \. \}\}$`)

// functionNames lists the files of the functions in the order of installation.
func functionNames() []string {
	var names []string
	for _, match := range included.FindAllSubmatch(readEmbedded("functions/install.sql"), -1) {
		names = append(names, string(match[1]))
	}
	return names
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}
