package call

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// sealedName is the name under which the server hands over the value of a @set.
func sealedName(s *model.Set) string {
	return strings.Join(value.NamesOf(s.Target), ".")
}

// sealedValue is the value that the server has made of the text of a @set.
func sealedValue(s *model.Set) pg.Expr {
	return value.MemberText(value.Context, "sealed", sealedName(s))
}

// PublishedSealed returns the texts that the server seals, and their kinds.
func PublishedSealed(a *model.Action) []release.Sealed {
	var list []release.Sealed
	for _, s := range a.Sets {
		if !value.IsSealed(s) {
			continue
		}
		sealed := release.Sealed{Name: sealedName(s), As: release.Secret}
		if s.Target[len(s.Target)-1].Type.Kind == expr.Password {
			sealed.As = release.Password
		}
		switch v := s.Value.(type) {
		case *expr.Literal:
			text := v.Value.(string)
			sealed.Text = &text
		case *expr.Path:
			switch v.Root {
			case expr.RootHeader:
				sealed.Header = v.Name
			case expr.RootEnv:
				sealed.Environment = v.Name
			case expr.RootSecret:
				sealed.Secret = v.Name
			case expr.RootInput:
				in := v.Input.(*model.Input)
				sealed.Input = strings.Join(value.RequestPath(a, in), ".")
				sealed.Hidden = !isRead(a, in)
			default:
				panic("lower: a @set of " + sealed.Name + " to a text of a row was not refused")
			}
		}
		list = append(list, sealed)
	}
	return list
}

// isRead tells whether the functions of an action read an input: it writes a field of its own, looks the row up, or is
// mentioned outside of values that the server seals.
func isRead(a *model.Action, in *model.Input) bool {
	if !in.Explicit {
		return true
	}
	return slices.Contains(expr.Mentions(value.ExpressionsRead(a)...).Inputs, expr.Input(in))
}
