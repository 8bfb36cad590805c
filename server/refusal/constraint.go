package refusal

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/sql/release"
)

// refuseConstraint returns the refusal for a broken constraint of the data, or nil if the
// release does not know the constraint.
func refuseConstraint(raised *pgconn.PgError, action *release.Action, constraints map[string]release.Constraint, sent []byte) *Refusal {
	name := raised.ConstraintName
	if raised.Code == "23502" {
		name = raised.TableName + "." + raised.ColumnName
	}
	c, ok := constraints[name]
	if !ok || c.Table != raised.TableName {
		return nil
	}
	if c.Kind == release.Validate {
		failed := problem.Validate(c.Message)
		if len(c.Fields) > 0 {
			failed.Field = inputOf(c, action, sent)
		}
		return Conflict.With(raised).Listing(failed)
	}
	if len(c.Fields) == 0 {
		return nil
	}
	if c.Kind == release.Required {
		c = missingLink(c, action)
	}

	where := func() string { return inputOf(c, action, sent) }
	first := c.Fields[0]
	switch {
	case c.Kind == release.Required && lackedByCaller(c, action) != "":
		lacking := problem.NoCaller(lackedByCaller(c, action))
		return InputInvalid.With(raised).Saying("%s", lacking.Error).Listing(lacking)
	case c.Kind == release.Required:
		return InputInvalid.With(raised).
			Saying("field '%s' cannot be null", first).
			Listing(problem.Null().At(where()))
	case c.Kind == release.Unique && len(c.Fields) == 1:
		return InputInvalid.With(raised).
			Saying("the value for the unique field '%s' must be unique", first).
			Listing(problem.Unique(c.Fields).At(where()))
	case c.Kind == release.Unique:
		return InputInvalid.With(raised).
			Saying("the values for the unique composite fields (%s) must be unique", strings.Join(c.Fields, ", ")).
			Listing(problem.Unique(c.Fields).At(where()))
	case c.Kind == release.Reference && isStillReferenced(raised, action):
		return InputInvalid.With(raised).
			Saying("the record is referenced by other records").
			Listing(problem.Restrict().At(referencedBy(action, sent)))
	case c.Kind == release.Reference:
		return InputInvalid.With(raised).
			Saying("the record referenced in field '%s' does not exist", first).
			Listing(problem.Reference().At(where()))
	}
	if text, entry := beyondLimit(c); text != "" {
		return InputInvalid.With(raised).Saying("the value of field '%s' %s", first, text).Listing(entry.At(where()))
	}
	return nil
}

// beyondLimit says how a value breaks a limit of its field, "" for other constraints.
func beyondLimit(c release.Constraint) (text string, entry problem.Problem) {
	switch c.Kind {
	case release.MinLength:
		return "is too short", problem.MinLength(c.Limit, "")
	case release.MaxLength:
		return "is too long", problem.MaxLength(c.Limit, "")
	case release.MinItems:
		return "has too few items", problem.MinItems(c.Limit)
	case release.MaxItems:
		return "has too many items", problem.MaxItems(c.Limit)
	case release.NotBlank:
		return "is blank", problem.NotBlank()
	case release.Pattern:
		return "does not match its pattern", problem.Pattern(c.Message)
	case release.HasFormat:
		return "does not have its format", problem.Format(c.Format)
	case release.Range:
		return "is out of range", problem.Range()
	}
	return "", problem.Problem{}
}

// lackedByCaller returns the value that a caller lacks for a required field; "" if the field
// is not set from the caller.
func lackedByCaller(c release.Constraint, action *release.Action) string {
	for _, f := range action.FromCaller {
		if f.Table == c.Table && f.Field == c.Fields[0] {
			return f.Lacks
		}
	}
	return ""
}

// missingLink returns the reference to the row from which a required field is set, if that row is not there; else the
// constraint itself.
func missingLink(c release.Constraint, action *release.Action) release.Constraint {
	for _, f := range action.FromLinks {
		if f.Table == c.Table && f.Field == c.Fields[0] {
			return release.Constraint{Kind: release.Reference, Table: f.LinkTable, Fields: []string{f.Link}}
		}
	}
	return c
}

// isStillReferenced tells from which side a reference is broken: Postgres uses the same
// name for both. The kind of a built-in action decides; an update, which can break it
// from either side, writes only its own table. For custom code, and for references within
// one table, the detail decides. From PostgreSQL 18 on, restrict has its own code.
func isStillReferenced(raised *pgconn.PgError, action *release.Action) bool {
	switch {
	case raised.Code == "23001":
		return true
	case action.Custom:
	case action.Kind == release.Delete:
		return true
	case action.Kind == release.Update && len(action.Inputs) > 0 && action.Inputs[0].Table != raised.TableName:
		return true
	}
	return strings.Contains(raised.Detail, "is still referenced from")
}

// referencedBy returns the input that names a record which others still refer to: that of
// the new id of an update, else the first that looks the record up.
func referencedBy(action *release.Action, sent []byte) string {
	if action.Kind != release.Update {
		return action.LookUp
	}
	id := release.Constraint{Kind: release.Unique, Fields: []string{"id"}}
	for _, in := range action.Inputs {
		if in.Field == "id" {
			id.Table = in.Table
		}
	}
	return inputOf(id, action, sent)
}

// tooLong is the length in bytes beyond which a value can be too long for an index: an
// entry of a B-tree holds some 2,700 bytes, compressed, for all of its columns.
const tooLong = 500

// refuseTooLong returns the refusal of a value that does not fit into an index. Postgres
// does not name the value, so every long text that the request writes is named. It is nil
// if there are none.
func refuseTooLong(raised *pgconn.PgError, action *release.Action, sent []byte) *Refusal {
	var body any
	if json.Unmarshal(sent, &body) != nil {
		return nil
	}
	var entries []problem.Problem
	for _, in := range action.Inputs {
		for _, path := range pathsIn(body, "", strings.Split(in.Path, ".")) {
			if text, ok := valueAt(body, strings.Split(path, ".")).(string); ok && len(text) > tooLong {
				entries = append(entries, problem.Indexed().At(path))
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return InputInvalid.With(raised).Listing(entries...)
}

// valueAt returns the value at a place from pathsIn.
func valueAt(value any, steps []string) any {
	for _, step := range steps {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

// inputOf finds the input for a broken constraint. For the last of its fields that the
// request writes, this is the path of the one input that writes it, or the field's own
// name if several do: of a shop and a number, the number is what a person would change.
func inputOf(c release.Constraint, action *release.Action, sent []byte) string {
	var body any
	if json.Unmarshal(sent, &body) != nil {
		return c.Fields[0]
	}
	for _, field := range slices.Backward(c.Fields) {
		var paths []string
		for _, in := range action.Inputs {
			if in.Table != c.Table || in.Field != field {
				continue
			}
			steps := strings.Split(in.Path, ".")
			if c.Kind == release.Required {
				paths = append(paths, unsetIn(body, steps)...)
			} else {
				paths = append(paths, pathsIn(body, "", steps)...)
			}
		}
		switch len(paths) {
		case 0:
			continue
		case 1:
			return paths[0]
		default:
			return field
		}
	}
	return c.Fields[0]
}

// unsetIn lists the places of a body at which a path is null, or is missing from an
// object below the root that has other members.
func unsetIn(body any, steps []string) []string {
	var paths []string
	for _, path := range pathsIn(body, "", steps) {
		if valueAt(body, strings.Split(path, ".")) == nil {
			paths = append(paths, path)
		}
	}
	last := len(steps) - 1
	if last == 0 {
		return paths
	}
	for _, path := range pathsIn(body, "", steps[:last]) {
		for _, place := range elementsOf(body, path) {
			object, _ := valueAt(body, strings.Split(place, ".")).(map[string]any)
			if _, isThere := object[steps[last]]; !isThere && len(object) > 0 {
				paths = append(paths, place+"."+steps[last])
			}
		}
	}
	return paths
}

// elementsOf lists the places of the elements of an array, or the place of any other value.
func elementsOf(body any, path string) []string {
	list, isArray := valueAt(body, strings.Split(path, ".")).([]any)
	if !isArray {
		return []string{path}
	}
	places := make([]string, len(list))
	for i := range list {
		places[i] = path + "." + strconv.Itoa(i)
	}
	return places
}

// pathsIn lists the places of a value at which a path is present. A step into an array
// leads into each of its elements.
func pathsIn(value any, prefix string, steps []string) []string {
	if len(steps) == 0 {
		return []string{strings.TrimPrefix(prefix, ".")}
	}
	var paths []string
	switch v := value.(type) {
	case map[string]any:
		if member, ok := v[steps[0]]; ok {
			return pathsIn(member, prefix+"."+steps[0], steps[1:])
		}
	case []any:
		for i, element := range v {
			paths = append(paths, pathsIn(element, prefix+"."+strconv.Itoa(i), steps)...)
		}
	}
	return paths
}
