package table

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// defaultMaxSize bounds a file that no field takes: an input of custom code.
const defaultMaxSize = 100_000_000

// FileTriggers returns the trigger that counts the fields that hold files; none for a table without such fields.
func FileTriggers(m *model.Model) []*pg.Trigger {
	var columns []string
	for _, f := range m.Stored() {
		if f.Type.Kind == expr.File {
			columns = append(columns, f.Column)
		}
	}
	if columns == nil {
		return nil
	}
	return []*pg.Trigger{{
		Name:      pg.FileTrigger,
		Timing:    "after insert or update or delete",
		Function:  "platform.tg_files",
		Arguments: columns,
	}}
}

// TakesUploads tells whether an input has an upload route: a top-level file that a create or update writes.
func TakesUploads(in *model.Input) bool {
	return in.IsWrite && in.Type.Kind == expr.File && (in.Explicit || len(in.Path) == 1)
}

// HasUploads tells whether some input of an action has an upload route.
func HasUploads(a *model.Action) bool {
	return (a.Kind == model.Create || a.Kind == model.Update) && slices.ContainsFunc(a.Writes, TakesUploads)
}

// PublishedFiles returns the inputs that have an upload route, for the server.
func PublishedFiles(a *model.Action) []release.FileInput {
	if !HasUploads(a) {
		return nil
	}
	var list []release.FileInput
	for _, in := range a.Writes {
		if !TakesUploads(in) {
			continue
		}
		f := release.FileInput{Name: in.Name, Path: strings.Join(value.RequestPath(a, in), "."), Array: in.Type.Array}
		f.Accepts, f.MaxSize = fileLimits(a, in)
		list = append(list, f)
	}
	return list
}

// InlineFiles returns the inputs that take files inline only and bound them, for the server.
func InlineFiles(a *model.Action) []release.FileInput {
	var list []release.FileInput
	for _, in := range a.Writes {
		if in.Type.Kind != expr.File || TakesUploads(in) && HasUploads(a) {
			continue
		}
		f := release.FileInput{Name: in.Name, Path: strings.Join(value.RequestPath(a, in), "."), Array: in.Type.Array}
		if f.Accepts, f.MaxSize = fileLimits(a, in); len(f.Accepts) > 0 || f.MaxSize != defaultMaxSize {
			list = append(list, f)
		}
	}
	return list
}

// fileLimits returns the files that an input takes: those that its field takes. An input that is stored in several
// fields takes the files that all of them take.
func fileLimits(a *model.Action, in *model.Input) (accepts []string, maxSize int64) {
	maxSize = defaultMaxSize
	for i, f := range a.StoredIn(in) {
		if i == 0 {
			accepts, maxSize = f.Accepts, f.MaxSize
			continue
		}
		accepts, maxSize = acceptedByBoth(accepts, f.Accepts), min(maxSize, f.MaxSize)
	}
	return accepts, maxSize
}

// acceptedByBoth returns the patterns of types that two lists of patterns accept,
// where an empty list accepts all.
func acceptedByBoth(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	covers := func(list []string, pattern string) bool {
		kind, _, _ := strings.Cut(pattern, "/")
		return slices.Contains(list, pattern) || slices.Contains(list, kind+"/*")
	}
	var both []string
	for _, p := range slices.Concat(a, b) {
		if covers(a, p) && covers(b, p) && !slices.Contains(both, p) {
			both = append(both, p)
		}
	}
	if both == nil {
		return []string{"/"} // no type matches it
	}
	return both
}
