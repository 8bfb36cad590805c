package list

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// takesFormArguments tells whether the function for the forms of a list can take its arguments.
func takesFormArguments(a *model.Action, function string, sets []operatorSet) bool {
	return !a.Custom && call.MayTake(a, function, formArguments(a, sets))
}

// formArguments returns the arguments of a function for forms of a list: the inputs that any of them takes, then the page.
func formArguments(a *model.Action, sets []operatorSet) []call.Argument {
	var arguments []call.Argument
	add := func(in *model.Input, path string) {
		taken := call.Argument{Argument: pg.Argument{Name: model.SnakeForm(in.Name), Type: call.ArgumentType(in)}, Path: path, Input: in, Given: false}
		if !slices.Contains(arguments, taken) {
			arguments = append(arguments, taken)
		}
	}
	for _, set := range sets {
		for _, f := range set.equals {
			add(f.Input, "where."+f.At("equals"))
		}
		for _, in := range set.given {
			add(in, dotted(value.RequestPath(a, in)))
		}
	}
	keys := value.KeysOfArms(a)
	if value.CanSeek(keys) {
		for i, k := range keys {
			after := pg.Argument{Name: afterKey(k), Type: call.ArgumentTypeOf(k.Field.Type.Kind)}
			arguments = append(arguments, call.Argument{Argument: after, Path: fmt.Sprintf("position.%d", i), Input: nil, Given: false})
		}
	}
	return append(arguments, call.Argument{Argument: call.SizeArgument, Path: call.SizeArgument.Name, Input: nil, Given: false})
}

// PublishedOrder returns the order of a list, and the order that requests may choose.
func PublishedOrder(a *model.Action) (order, sortable []release.SortKey) {
	if a.Kind != model.List || !call.AnswersRow(a) {
		return nil, nil
	}
	published := func(f *model.Field) release.SortKey {
		return release.SortKey{Member: value.MemberOf(f.Name, call.AnsweredColumnOf(a, f), f.Type), Nullable: f.Optional}
	}
	if a.Union != nil {
		published = func(f *model.Field) release.SortKey {
			if f.Name == value.ArmColumn {
				return release.SortKey{Member: value.MemberOf(f.Name, f.Column, f.Type)}
			}
			return release.SortKey{Member: call.UnionMember(a.Union, f.Name), Nullable: f.Optional}
		}
		for _, f := range a.UnionSortable {
			sortable = append(sortable, published(value.UnionKey(f)))
		}
	}
	for _, k := range value.OwnOrder(a) {
		key := published(k.Field)
		key.Descending, key.Follows = k.Descending, k.Follows
		order = append(order, key)
	}
	for _, f := range a.Sortable {
		sortable = append(sortable, published(f))
	}
	return order, sortable
}
