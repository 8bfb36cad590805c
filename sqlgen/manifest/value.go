package manifest

import (
	"github.com/sternpost/sternpost/sql/pattern"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// scalar is the schema of one value of a type.
func scalar(t expr.Type, enum *model.Enum, nullable bool) *release.JSONSchema {
	if t.Kind == expr.Enum {
		if nullable {
			return release.AnyOf(release.RefTo(enum.Name), release.Typed("null"))
		}
		return release.RefTo(enum.Name)
	}
	form := t.Kind.JSON()
	if form.Type == "" {
		panic("publish: no schema for kind " + t.Kind.String())
	}
	return withKeywords(release.TypedOrNull(form.Type, nullable), form.Keywords)
}

// value is the schema of an input's plain value, with the limits of what the action
// stores it in.
func (p *publisher) value(a *model.Action, in *model.Input) *release.JSONSchema {
	limits := valueLimits(a, in)
	in = p.asPublished(in)
	one := func(nullable bool) *release.JSONSchema {
		if in.Type.Kind == expr.File {
			return fileSchema(in, nullable)
		}
		return withLimits(scalar(in.Type, in.Enum, nullable), limits)
	}
	if !in.Type.Array {
		return one(in.Nullable)
	}
	list := release.TypedOrNull("array", in.Nullable).With("items", one(false))
	if in.Type.Kind == expr.File {
		list.With("maxItems", maxFiles)
	}
	return list.AtLeast("minItems", limits.MinItems).AtMost("maxItems", limits.MaxItems)
}

// valueLimits returns the limits of the fields in which an action stores an input.
func valueLimits(a *model.Action, in *model.Input) (limits model.Limits) {
	for _, f := range a.StoredIn(in) {
		limits = limits.And(f.Limits)
	}
	return limits
}

// withLimits adds the limits of one text to its schema.
func withLimits(s *release.JSONSchema, limits model.Limits) *release.JSONSchema {
	s.AtLeast("minLength", limits.MinLength).AtMost("maxLength", limits.MaxLength)
	if limits.NotBlank {
		s.With("not", release.Anything().With("pattern", pattern.Blank))
	}
	if p := limits.Pattern; p != nil {
		s.With("pattern", p.Written)
		if p.Message != "" {
			s.With(release.PatternMessage, p.Message)
		}
	}
	if limits.Format != nil && s.Format == "" {
		s.With("format", limits.Format.Published)
	}
	return s
}

// inputDoc is what is known of an input: the description of its field.
func inputDoc(in *model.Input) string {
	switch {
	case in.Union != nil:
		return in.Union.Doc
	case len(in.Path) > 0:
		return in.Path[len(in.Path)-1].Doc
	}
	return ""
}
