package expr

import "github.com/sternpost/sternpost/sqlgen/syntax"

// Use is the place at which an expression names a condition of a model.
type Use struct {
	Path      *syntax.Path // as written there
	Model     string       // that has the condition
	Condition string       // its name
	Within    *Use         // the condition that it is, if it is nothing but another; else nil
}

// UseOf returns the use of a condition that a node stands for, nil if it stands for none.
func UseOf(n Node) *Use { return n.(interface{ named() *Use }).named() }

func (b *base) named() *Use { return b.use }

// UsesIn returns the uses of conditions in an expression, in the order written, those within a condition behind it.
func UsesIn(n Node) []*Use {
	var uses []*Use
	Inspect(n, func(n Node) bool {
		for u := UseOf(n); u != nil; u = u.Within {
			uses = append(uses, u)
		}
		return true
	})
	return uses
}

// useCondition returns a condition over the row to which a path leads, as a node of the expression that names it.
func (c *checker) useCondition(p *syntax.Path, at *Path, condition Node) Node {
	over := Substitute(condition, func(own *Path) Node {
		steps := append(at.Steps[:len(at.Steps):len(at.Steps)], own.Steps...)
		if len(own.Steps) == 0 && at.ThroughToMany() { // the row itself, by its id
			id, _ := c.scope.Field(own.typ.Name, "id")
			steps = append(steps, id)
		}
		read := newPath(Path{Root: at.Root, Steps: steps}, Type{Kind: Model, Name: own.typ.Name}, own.span)
		read.use = own.use
		return read
	})
	for _, read := range Paths(over) {
		switch {
		case read.Root != RootRow && !c.seesContext():
			c.add(p.Span(), UnknownName, conditionReadsContext(p.Steps[len(p.Steps)-1].Name))
			return nil
		case (read.Root == RootSecondFactor || read.Root == RootSignedInWithin) && !c.seesSession(p.Span(), p.String()):
			return nil
		case !c.canTest(read):
			c.add(p.Span(), NotOwnField, notOwnField(read, p.Steps[0].Name))
			return nil
		}
	}
	return withUse(over, &Use{Path: p, Model: at.typ.Name, Condition: p.Steps[len(p.Steps)-1].Name, Within: UseOf(over)})
}

// valuePath resolves a path where a value is needed, which a condition is not.
func (c *checker) valuePath(p *syntax.Path) Node {
	n := c.path(p)
	if n != nil && UseOf(n) != nil {
		c.add(p.Span(), NestedComparison, conditionAsValue(UseOf(n).Condition))
		return nil
	}
	return n
}

// withUse returns a copy of a node that stands for a use of a condition.
func withUse(n Node, u *Use) Node {
	switch n := n.(type) {
	case *Literal:
		copied := *n
		copied.use = u
		return &copied
	case *Path:
		copied := *n
		copied.use = u
		return &copied
	case *Compare:
		copied := *n
		copied.use = u
		return &copied
	case *Logic:
		copied := *n
		copied.use = u
		return &copied
	case *Not:
		copied := *n
		copied.use = u
		return &copied
	}
	panic("expr: a condition that is not Boolean")
}
