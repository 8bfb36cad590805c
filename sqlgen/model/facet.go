package model

import "github.com/sternpost/sternpost/sqlgen/expr"

// Facet is a field of a list. Each page answers its values in all matching rows: each
// with its count, or the least and the greatest.
type Facet struct {
	Field      *Field      // nil for a list of a union
	UnionField *UnionField // nil for a list of a model
}

// Name returns the name of the field.
func (f *Facet) Name() string {
	if f.UnionField != nil {
		return f.UnionField.Name
	}
	return f.Field.Name
}

// Type returns the type of the field.
func (f *Facet) Type() expr.Type {
	if f.UnionField != nil {
		return f.UnionField.Type
	}
	return f.Field.Type
}

// Optional tells whether the field may be null.
func (f *Facet) Optional() bool {
	if f.UnionField != nil {
		return f.UnionField.Optional
	}
	return f.Field.Optional
}

// Enum returns the enum of the field, nil if it is of another type.
func (f *Facet) Enum() *Enum {
	if f.UnionField != nil {
		return f.UnionField.Enum
	}
	return f.Field.Enum
}
