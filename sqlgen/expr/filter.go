package expr

// Filter is an operator by which lists filter: a member of the query object that a
// request gives for an input.
type Filter struct {
	Name     string
	Operand  FilterOperand
	Nullable bool // whether the operand is nullable where the field is
}

// FilterOperand is the kind of an operator's operand.
type FilterOperand int

// The operands of filters.
const (
	OneValue FilterOperand = iota
	ManyValues
	RelativePeriod
)

// The operators of query objects that types share, in the order in which they are
// published.
var (
	equalsFilters = []Filter{{Name: "equals", Nullable: true}, {Name: "notEquals", Nullable: true}}
	orderFilters  = []Filter{{Name: "lessThan"}, {Name: "lessThanOrEquals"}, {Name: "greaterThan"}, {Name: "greaterThanOrEquals"}}
	textFilters   = []Filter{{Name: "startsWith"}, {Name: "endsWith"}, {Name: "contains"}}
	oneOfFilters  = []Filter{{Name: "oneOf", Operand: ManyValues}}
	dateFilters   = []Filter{{Name: "before"}, {Name: "onOrBefore"}, {Name: "after"}, {Name: "onOrAfter"}}
	timeFilters   = []Filter{{Name: "before"}, {Name: "after"}}
	periodFilters = []Filter{
		{Name: "beforeRelative", Operand: RelativePeriod},
		{Name: "afterRelative", Operand: RelativePeriod},
		{Name: "equalsRelative", Operand: RelativePeriod},
	}
)

// Filters returns the operators by which lists filter by a value of the kind, in the
// order in which they are published.
func (k Kind) Filters() []Filter { return kinds[k].filters }

// ArrayFilters returns the operators by which lists filter by an array as a whole.
func ArrayFilters() []Filter { return equalsFilters }

// ElementFilters returns the operators inside any and all, by which lists filter by an
// element of an array: those of the kind without oneOf, and none is nullable.
func (k Kind) ElementFilters() []Filter {
	var list []Filter
	for _, f := range k.Filters() {
		if f.Operand != ManyValues {
			f.Nullable = false
			list = append(list, f)
		}
	}
	return list
}

// HasFilter tells whether lists filter by a value of the kind with an operator.
func (k Kind) HasFilter(name string) bool {
	for _, f := range k.Filters() {
		if f.Name == name {
			return true
		}
	}
	return false
}
