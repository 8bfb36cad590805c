package syntax

// Code names a rule of the language that was broken. Codes are stable: editors
// and scripts may depend on them; the wording of messages is not.
type Code string

// Diagnostic is one thing to say about a schema.
type Diagnostic struct {
	Span    Span
	Code    Code
	Message string // lower case, no full stop; speaks of the user's schema
	Notes   []Note
	Warning bool // a warning never fails a compilation
}

// Note adds to a diagnostic, usually by pointing to the other place involved.
type Note struct {
	Span    Span // the zero Span means no place
	Message string
}

// Errors collects diagnostics. Stages append to it in any order; Sorted puts
// them in source order.
type Errors []*Diagnostic
