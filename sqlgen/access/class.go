package access

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Class is a class of callers. Only the properties of the class are known of them.
type Class struct {
	Name            string // anonymous, authenticated, or that of the role
	IsAuthenticated bool
	Role            *model.Role   // nil means none
	Roles           []*model.Role // those that every member has: Role, and each that has all of its members
}

// Classes returns the classes of callers of a schema: anonymous, authenticated without
// any role, and the members of each role without other roles, except those that the role
// implies.
func Classes(s *model.Schema) []*Class {
	classes := []*Class{Anonymous(), {Name: "authenticated", IsAuthenticated: true}}
	for _, role := range s.Roles {
		c := &Class{Name: role.Name, IsAuthenticated: true, Role: role}
		for _, other := range s.Roles {
			if other == role || isWithin(role, other) {
				c.Roles = append(c.Roles, other)
			}
		}
		classes = append(classes, c)
	}
	return classes
}

// Anonymous returns the class of callers without an identity.
func Anonymous() *Class { return &Class{Name: "anonymous"} }

// isWithin tells whether a role has members, and another role has all of them.
func isWithin(role, other *model.Role) bool {
	for _, email := range role.Emails {
		domain := email[strings.LastIndexByte(email, '@')+1:]
		if !slices.Contains(other.Emails, email) && !slices.Contains(other.Domains, domain) {
			return false
		}
	}
	for _, domain := range role.Domains {
		if !slices.Contains(other.Domains, domain) {
			return false
		}
	}
	for _, own := range role.Expressions {
		if !slices.ContainsFunc(other.Expressions, func(e *model.Membership) bool { return e.Text == own.Text }) {
			return false
		}
	}
	return role.HasMembers() || len(role.Expressions) > 0
}

// knows returns the knowledge of a path's value for all callers of the class.
func (c *Class) knows(p *expr.Path) expr.Knowledge {
	switch p.Root {
	case expr.RootRow, expr.RootHeader: // a header may be absent
		return expr.Open
	case expr.RootInput:
		if p.Input.InputOptional() || p.Input.InputNullable() {
			return expr.Open
		}
		return expr.Present
	case expr.RootIsAuthenticated:
		return expr.Fixed
	case expr.RootSecondFactor, expr.RootSignedInWithin:
		if !c.IsAuthenticated {
			return expr.Fixed // false
		}
	case expr.RootIdentity:
		return c.knowsOfIdentity(p)
	}
	return expr.Present // the time and settings are never null
}

// knowsOfIdentity returns the knowledge of a path from the caller's identity. A caller with
// a role without expression has a verified e-mail.
func (c *Class) knowsOfIdentity(p *expr.Path) expr.Knowledge {
	if !c.IsAuthenticated {
		return expr.Fixed // null, for want of a caller
	}
	if c.Role != nil && len(c.Role.Expressions) == 0 && len(p.Steps) == 1 {
		switch p.Steps[0].StepName() {
		case "emailVerified":
			return expr.Fixed
		case "email":
			return expr.Present
		}
	}
	if p.ThroughToMany() || slices.ContainsFunc(p.Steps, expr.Step.StepOptional) {
		return expr.Open
	}
	return expr.Present
}

// call returns a call by a caller of the class, for comparisons of fixed values.
func (c *Class) call() expr.Call {
	if !c.IsAuthenticated {
		return expr.Call{}
	}
	return expr.Call{Identity: member{}}
}

// member is the identity of any caller with a role. Only fixed values are read from it.
type member struct{}

func (member) ID() string { panic("access: the id of a class of callers is not fixed") }

func (member) Value(field string) any {
	if field != "emailVerified" {
		panic("access: " + field + " of a class of callers is not fixed")
	}
	return true
}

func (member) Related(field string) []expr.Row {
	panic("access: " + field + " of a class of callers is not fixed")
}
