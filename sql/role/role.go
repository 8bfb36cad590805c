// Package role names the roles of every Sternpost database, which the migrations of
// package sql make. integration/guide/reference/database.md lists the rights of each.
package role

import "slices"

// The roles that exist once.
const (
	Open   = "sternpost_open"   // owns the functions of actions with policies that walk no relation
	Caller = "sternpost_caller" // owns those of the others, together with its copies
	Code   = "sternpost_code"   // owns those that call custom code
	Server = "sternpost_server" // servers are members of it
)

// Callers returns Caller and its copies. Actions with policies that walk many relations
// are distributed over them.
func Callers() []string {
	return []string{
		Caller, "sternpost_caller_2", "sternpost_caller_3", "sternpost_caller_4",
		"sternpost_caller_5", "sternpost_caller_6", "sternpost_caller_7", "sternpost_caller_8",
	}
}

// OfActions returns the roles that own the functions of actions without custom code.
func OfActions() []string { return slices.Insert(Callers(), 0, Open) }

// Owners returns all roles that run functions in schema api.
func Owners() []string { return append(OfActions(), Code) }

// All returns all roles.
func All() []string { return append(Owners(), Server) }
