package release

import "slices"

// Live is what the answer of an action depends on. It may name too much, which costs time, and never too little.
type Live struct {
	Shared Shared  `json:"shared"`
	Rows   []Watch `json:"rows"`             // changes after which the answer may be another
	Caller []Watch `json:"caller,omitempty"` // changes after which Values may be others
	Clock  bool    `json:"clock,omitempty"`  // whether time alone may change it

	// Function in schema api returns, as a JSON array, what the answer depends on of the caller: a list of texts, a
	// digest of a long one, or a Boolean value. Values says what each is. It takes PlainSignature.
	Function string   `json:"function,omitempty"`
	Values   []string `json:"values,omitempty"`
}

// Shared is who gets the same answer to the same input.
type Shared string

// By whom answers are shared.
const (
	ByAll    Shared = "public"
	ByRole   Shared = "role"     // callers of the same roles
	ByValues Shared = "values"   // callers with the same Values
	ByNobody Shared = "identity" // each identity has its own
)

// Watch is changes of rows of a model: of those that have one of the keys of a set. Any one of the sets is enough, since
// all rows that matter have a key of each. Without a set that can be used, it is any change.
type Watch struct {
	Model string  `json:"model"`
	Keys  [][]Key `json:"keys,omitempty"`
}

// Key is a column and what it has: an input, one of Values, or without either the id of the caller. Without a column any
// row has the key.
type Key struct {
	Column string `json:"column,omitempty"`
	Input  string `json:"input,omitempty"` // its path in the body, dotted
	Value  int    `json:"value,omitempty"` // counted from 1
	When   []int  `json:"when,omitempty"`  // there is such a key only if these Values are true, counted from 1
}

// Reads tells whether the answer may depend on rows of a model.
func (l *Live) Reads(model string) bool {
	return slices.ContainsFunc(slices.Concat(l.Rows, l.Caller), func(w Watch) bool { return w.Model == model })
}
