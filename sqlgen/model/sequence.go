package model

// Sequence holds the parts of the values of a field with @sequence.
type Sequence struct {
	Prefix string
	First  int64
	Per    *Field // the to-one with rows that each have numbers of their own; nil means that all rows share them
}

// IsGiven tells whether the database alone gives the field its value.
func (f *Field) IsGiven() bool { return f.Computed != nil || f.Sequence != nil }

// NumberedPer returns the field whose numbers count per row behind the to-one or its FK field, or nil.
func (f *Field) NumberedPer() *Field {
	for _, other := range f.Model.Fields {
		if s := other.Sequence; s != nil && s.Per != nil && (s.Per == f || s.Per == f.FKOf) {
			return other
		}
	}
	return nil
}
