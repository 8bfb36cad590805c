package model

import "github.com/sternpost/sternpost/sql/pattern"

// Limits bound the values of a field. The zero Limits bound nothing.
type Limits struct {
	MinLength, MaxLength int64    // of a Text or Markdown, or of each in an array: characters; 0 means no limit
	MinItems, MaxItems   int64    // of an array: elements; 0 means no limit. MinItems also of a to-many: rows that a create makes
	NotBlank             bool     // each text has a character that is not white space
	Pattern              *Pattern // each text matches it; nil means none
	Format               *Format  // each text has it; nil means none
}

// Pattern is a pattern of a @pattern.
type Pattern struct {
	Source  string
	Written string // in the form of pattern.Read
	Message string // what a refusal says; empty means a message of its own
}

// Format is a format of texts.
type Format struct {
	Name      string // in the schema language
	Published string // in JSON Schema
	Pattern   string // in the form of pattern.Read
}

// Formats lists the formats that @format takes.
func Formats() []*Format {
	return []*Format{{"email", "email", pattern.Email}, {"url", "uri", pattern.URL}}
}

// And returns the limits of a value that must satisfy both. Of two patterns or formats the first counts.
func (l Limits) And(other Limits) Limits {
	least := func(limit, other int64) int64 {
		if limit == 0 || other == 0 {
			return limit + other
		}
		return min(limit, other)
	}
	l.MinLength, l.MinItems = max(l.MinLength, other.MinLength), max(l.MinItems, other.MinItems)
	l.MaxLength, l.MaxItems = least(l.MaxLength, other.MaxLength), least(l.MaxItems, other.MaxItems)
	l.NotBlank = l.NotBlank || other.NotBlank
	if l.Pattern == nil {
		l.Pattern = other.Pattern
	}
	if l.Format == nil {
		l.Format = other.Format
	}
	return l
}
