package syntax

import (
	"slices"
	"strings"
)

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

// Add appends an error.
func (errs *Errors) Add(code Code, span Span, message string, notes ...Note) {
	*errs = append(*errs, &Diagnostic{Span: span, Code: code, Message: message, Notes: notes})
}

// HasErrors reports whether there is anything but warnings.
func (errs Errors) HasErrors() bool {
	return slices.ContainsFunc(errs, func(d *Diagnostic) bool { return !d.Warning })
}

// Sorted returns the diagnostics in source order: by the names of their files,
// then by place; those without a file come first. What is at one place
// keeps its order. Of diagnostics that say the same of the same place, only the
// first is kept.
func (errs Errors) Sorted() Errors {
	type identity struct {
		file    string
		start   int
		end     int
		code    Code
		message string
	}
	seen := make(map[identity]bool, len(errs))
	var sorted Errors
	for _, d := range errs {
		id := identity{d.Span.fileName(), d.Span.Start.Offset, d.Span.End.Offset, d.Code, d.Message}
		if !seen[id] {
			seen[id] = true
			sorted = append(sorted, d)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *Diagnostic) int {
		if c := strings.Compare(a.Span.fileName(), b.Span.fileName()); c != 0 {
			return c
		}
		return a.Span.Start.Offset - b.Span.Start.Offset
	})
	return sorted
}

// fileName returns the name of the span's file, "" for the zero Span.
// SourceOf returns the text of a span, on one line.
func SourceOf(s Span) string {
	return strings.Join(strings.Fields(string(s.File.Text[s.Start.Offset:s.End.Offset])), " ")
}

func (s Span) fileName() string {
	if s.File == nil {
		return ""
	}
	return s.File.Name
}
