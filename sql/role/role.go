// Package role names the roles of every Sternpost database, which the migrations of
// package sql make. integration/guide/reference/database.md says what each may.
package role

import "slices"

// The roles that are one of a kind.
const (
	Open   = "sternpost_open"   // owns the functions of actions whose policies walk no relation
	Caller = "sternpost_caller" // owns those of the others, with more of its kind
	Code   = "sternpost_code"   // owns those that call custom code
	Server = "sternpost_server" // what servers are members of
)

// Callers returns Caller and those that are like it. Actions whose policies walk many
// relations are spread over them.
func Callers() []string {
	return []string{
		Caller, "sternpost_caller_2", "sternpost_caller_3", "sternpost_caller_4",
		"sternpost_caller_5", "sternpost_caller_6", "sternpost_caller_7", "sternpost_caller_8",
	}
}

// OfActions returns the roles that own the functions of actions without custom code.
func OfActions() []string { return slices.Insert(Callers(), 0, Open) }

// Owners returns all roles that functions in schema api run as.
func Owners() []string { return append(OfActions(), Code) }

// All returns all roles.
func All() []string { return append(Owners(), Server) }
