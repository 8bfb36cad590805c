package expr

import (
	"fmt"
	"slices"
)

// Inspect calls visit for a node and, while visit returns true, for its parts, in the
// order written.
func Inspect(n Node, visit func(Node) bool) {
	if !visit(n) {
		return
	}
	switch n := n.(type) {
	case *Not:
		Inspect(n.Operand, visit)
	case *Negative:
		Inspect(n.Operand, visit)
	case *Aggregate:
		Inspect(n.Path, visit)
		if n.Condition != nil {
			Inspect(n.Condition, visit)
		}
	case *Function:
		for _, argument := range n.Arguments {
			Inspect(argument, visit)
		}
	case *Arithmetic:
		Inspect(n.Left, visit)
		Inspect(n.Right, visit)
	case *Logic:
		Inspect(n.Left, visit)
		Inspect(n.Right, visit)
	case *Compare:
		Inspect(n.Left, visit)
		Inspect(n.Right, visit)
	case *List:
		for _, element := range n.Elements {
			Inspect(element, visit)
		}
	}
}

// Paths returns all paths of the expressions, in the order written.
func Paths(nodes ...Node) []*Path {
	var paths []*Path
	for _, n := range nodes {
		Inspect(n, func(n Node) bool {
			if p, ok := n.(*Path); ok {
				paths = append(paths, p)
			}
			return true
		})
	}
	return paths
}

// Mentioned holds the things that expressions mention, each once, in the order of
// first mention.
type Mentioned struct {
	Row             bool // the row, or a path from it
	Identity        bool // ctx.identity, or a path from it
	IsAuthenticated bool
	Now             bool
	Inputs          []Input
	Headers         []string // snake form
	Env             []string
	Secrets         []string
	SecondFactor    bool
	SignedInWithin  bool
}

// Session tells whether they mention what the caller has shown to sign in.
func (m Mentioned) Session() bool { return m.SecondFactor || m.SignedInWithin }

// Mentions returns the things that the expressions mention.
func Mentions(nodes ...Node) Mentioned {
	var m Mentioned
	for _, p := range Paths(nodes...) {
		switch p.Root {
		case RootRow:
			m.Row = true
		case RootIdentity:
			m.Identity = true
		case RootIsAuthenticated:
			m.IsAuthenticated = true
		case RootNow:
			m.Now = true
		case RootInput:
			m.Inputs = appendNew(m.Inputs, p.Input)
		case RootHeader:
			m.Headers = appendNew(m.Headers, p.Name)
		case RootEnv:
			m.Env = appendNew(m.Env, p.Name)
		case RootSecret:
			m.Secrets = appendNew(m.Secrets, p.Name)
		case RootSecondFactor:
			m.SecondFactor = true
		case RootSignedInWithin:
			m.SignedInWithin = true
		}
	}
	return m
}

// appendNew appends what the slice does not hold yet.
func appendNew[T comparable](s []T, v T) []T {
	if slices.Contains(s, v) {
		return s
	}
	return append(s, v)
}

// Prefix is a path up to and including a to-many: the place of one choice of a
// child, which all paths of an expression that begin with it share.
type Prefix struct {
	Root  Root // RootRow or RootIdentity
	Steps []Step
}

// Key names the prefix within an expression: equal prefixes have equal keys.
func (p Prefix) Key() string {
	key := fmt.Sprint(p.Root)
	for _, s := range p.Steps {
		key += "." + s.StepName()
	}
	return key
}

// Prefixes returns the to-many prefixes for which the expressions, joined by &&,
// choose a child, each once, a shorter one before those that it begins. The operand
// of ! is an expression of its own and chooses for itself. A path that ends in a
// to-many and is compared with null is about all children: its end is not a
// choice.
func Prefixes(nodes ...Node) []Prefix {
	var prefixes []Prefix
	seen := map[string]bool{}
	for _, n := range nodes {
		Inspect(n, func(n Node) bool {
			switch n := n.(type) {
			case *Not, *Aggregate:
				return false
			case *Compare:
				if p, ok := NullTested(n).(*Path); ok {
					prefixes = addPrefixes(prefixes, seen, p, false)
					return false
				}
			case *Path:
				prefixes = addPrefixes(prefixes, seen, n, true)
			}
			return true
		})
	}
	return prefixes
}

// addPrefixes adds the new prefixes of a path. The caller knows whether a to-many at
// the end of the path is a choice.
func addPrefixes(prefixes []Prefix, seen map[string]bool, p *Path, withEnd bool) []Prefix {
	for i, s := range p.Steps {
		if !isToMany(s) || i == len(p.Steps)-1 && !withEnd {
			continue
		}
		prefix := Prefix{Root: p.Root, Steps: p.Steps[:i+1]}
		if key := prefix.Key(); !seen[key] {
			seen[key] = true
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// isNullTest tells whether a comparison is with the literal null by == or !=.
func isNullTest(c *Compare) bool {
	return operators(c.Op) == Equality && (isNull(c.Left) || isNull(c.Right))
}

// NullTested returns the side that a comparison tests for null, nil if it is not a
// test for null.
func NullTested(c *Compare) Node {
	switch {
	case !isNullTest(c):
		return nil
	case isNull(c.Left):
		return c.Right
	}
	return c.Left
}
