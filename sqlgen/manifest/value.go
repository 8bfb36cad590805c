package manifest

import (
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
	maxLength, maxItems := valueLimits(a, in)
	in = p.asPublished(in)
	one := func(nullable bool) *release.JSONSchema {
		if in.Type.Kind == expr.File {
			return fileSchema(in, nullable)
		}
		return scalar(in.Type, in.Enum, nullable).AtMost("maxLength", maxLength)
	}
	if !in.Type.Array {
		return one(in.Nullable)
	}
	list := release.TypedOrNull("array", in.Nullable).With("items", one(false))
	if in.Type.Kind == expr.File {
		list.With("maxItems", maxFiles)
	}
	return list.AtMost("maxItems", maxItems)
}

// valueLimits returns the least @maxLength and @maxItems of the fields in which an
// action stores an input; 0 is none.
func valueLimits(a *model.Action, in *model.Input) (maxLength, maxItems int64) {
	least := func(limit, other int64) int64 {
		if limit == 0 || other == 0 {
			return limit + other
		}
		return min(limit, other)
	}
	for _, f := range a.StoredIn(in) {
		maxLength, maxItems = least(maxLength, f.MaxLength), least(maxItems, f.MaxItems)
	}
	return maxLength, maxItems
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
