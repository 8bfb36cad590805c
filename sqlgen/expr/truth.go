package expr

// Truth is a value of three-valued logic. The values are ordered: && is the
// lesser of two, || the greater.
type Truth int

// The truth values.
const (
	False Truth = iota
	Unknown
	True
)

// String returns the value in lower case.
func (t Truth) String() string { return [...]string{"false", "unknown", "true"}[t] }

// MarshalText returns the value in lower case.
func (t Truth) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// And returns t && u.
func (t Truth) And(u Truth) Truth { return min(t, u) }

// Or returns t || u.
func (t Truth) Or(u Truth) Truth { return max(t, u) }

// Not returns !t.
func (t Truth) Not() Truth { return True - t }

// truthOf returns the truth value of a Boolean.
func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}
