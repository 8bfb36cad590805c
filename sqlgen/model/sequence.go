package model

// Sequence holds the parts of the values of a field with @sequence.
type Sequence struct {
	Prefix string
	First  int64
}

// IsGiven tells whether the database alone gives the field its value.
func (f *Field) IsGiven() bool { return f.Computed != nil || f.Sequence != nil }
