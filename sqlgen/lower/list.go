package lower

import (
	"fmt"
	"strconv"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// defaultPageSize is the number of rows of a page whose size was not asked for.
const defaultPageSize = "50"

// form is an operator set of a list that has a function of its own.
type form struct {
	operators string // as release.Action.Forms has it
	function  string
}

// list lowers a list to the function that takes any request, and one with a
// static statement, whose plan is kept, for each operator set that is foreseen:
// no filter, and each scalar input by equals. There are none of these for an order
// of which no position comes before every row.
func (l *lowering) list(a *schema.Action) []*pg.Function {
	functions := []*pg.Function{l.generalList(a)}
	if !hasFirst(ownOrder(a)) {
		return functions
	}
	add := func(operators, suffix, title string, in *schema.Input) {
		name := l.functions.Take(functionName(a) + "__" + suffix)
		functions = append(functions, l.staticList(a, name, title, in))
		l.forms[a] = append(l.forms[a], form{operators, name})
	}
	add("", "all", "without filter", nil)
	for _, in := range a.Reads {
		if hasEquals(in.Type) {
			operator := inputPath(in) + ".equals"
			add(operator, snakePath(in)+"_equals", "with "+operator, in)
		}
	}
	return functions
}

func hasEquals(t expr.Type) bool { return !t.Array && t.Kind != expr.Timestamp }

// inputPath is the dotted path of an implicit input, as a filter has it.
func inputPath(in *schema.Input) string {
	path := in.Path[0].Name
	for _, f := range in.Path[1:] {
		path += "." + f.Name
	}
	return path
}

func snakePath(in *schema.Input) string {
	path := in.Path[0].Column
	if in.Path[0].IsRelation() {
		path = storedAs(in.Path[0]).Column // author.id is author_id
	}
	return path
}

// staticList lowers a list for one operator set: at most one input by equals,
// forward from the beginning or a cursor. Its rule is decided before any row is
// read, so it reads the table directly, under row security.
func (l *lowering) staticList(a *schema.Action, name, title string, filter *schema.Input) *pg.Function {
	b := l.begin(a, name, "action "+a.Name+", "+title+": first, after", pg.Stable)
	b.fn.Comment = fmt.Sprintf("action %s of model %s, %s", a.Name, a.Model.Name, title)
	// The page size would otherwise make every call plan anew.
	b.fn.Settings = []pg.Setting{{Name: "plan_cache_mode", Value: "force_generic_plan"}}

	size := b.variable("v_size", "bigint", pg.As(pg.Fn("coalesce", memberText(input, "first"), pg.Str(defaultPageSize)), "bigint"))
	var condition pg.Expr
	if filter != nil {
		f := storedAs(ownField(filter))
		operand := append([]string{"where"}, filterPath(filter)...)
		v := b.variableFor(f.Column, variableType(f.Type), cast(memberText(input, append(operand, "equals")...), f.Type))
		condition = pg.Eq(pg.Col(b.table, f.Column), v)
	}
	hasPrevious := b.variable("v_has_previous", "boolean", pg.False())
	ids := b.variable("v_ids", "text[]", nil)
	records := b.variable("v_records", "text[]", nil)
	count := b.variable("v_count", "int", nil)

	keys := ownOrder(a)
	position := b.firstPosition(keys)
	b.readPosition(keys, position, condition)
	b.step("One row more than the page tells whether another follows.", &pg.Query{Select: &pg.Select{
		Columns: []pg.Output{
			{Value: pg.Fn("array_agg", b.recordText())},
			{Value: pg.Fn("array_agg", pg.Lit(b.recordAlias()+`."id"`))},
		},
		Into: []string{"v_records", "v_ids"},
		From: &pg.SubqueryRef{Alias: b.recordAlias(), Query: &pg.Select{
			Columns: b.record(),
			From:    b.stored(),
			Where:   pg.AllOf(beyond(keys, position, b.table), condition),
			OrderBy: orderBy(keys, b.table),
			Limit:   pg.Op(size, "+", pg.Lit("1")),
		}},
	}})
	b.step("", &pg.Assign{Variable: "v_count", Value: pg.Fn("least", pg.Fn("coalesce", pg.Fn("cardinality", ids), pg.Lit("0")), size)})
	b.step("", &pg.Return{Value: pg.Fn("platform.list_page",
		&pg.Slice{Array: records, From: pg.Lit("1"), To: count},
		cursor(a, keys, &pg.Element{Array: ids, Index: pg.Lit("1")}),
		cursor(a, keys, &pg.Element{Array: ids, Index: count}),
		pg.Op(pg.Fn("cardinality", ids), ">", size),
		hasPrevious,
		count,
	)})
	return b.finish()
}

// firstPosition declares a variable per key, which holds where the page begins: at
// first before every row.
func (b *builder) firstPosition(keys []sortKey) []pg.Expr {
	position := make([]pg.Expr, len(keys))
	for i, k := range keys {
		first, ok := k.first()
		if !ok {
			panic("lower: no value comes before all others of " + k.field.Name)
		}
		position[i] = b.variableFor("after_"+k.field.Column, castType(k.field.Type.Kind), first)
	}
	return position
}

// readPosition takes the position from the request's cursor, and sees whether rows
// lie before it.
func (b *builder) readPosition(keys []sortKey, position []pg.Expr, condition pg.Expr) {
	read := b.variable("v_position", "jsonb", nil)
	statements := []pg.Statement{&pg.Assign{Variable: "v_position", Value: pg.Fn(
		"platform.read_cursor", input, pg.Str(b.action.Name), keysArray(keys, b.table))}}
	for i, k := range keys {
		value := castTo(pg.Op(read, "->>", pg.Lit(strconv.Itoa(i))), castType(k.field.Type.Kind), "")
		statements = append(statements, &pg.Assign{Variable: position[i].(*pg.Name).Name, Value: value})
	}
	b.step("", pg.IfThen(hasMember(input, "after"), append(statements,
		&pg.Assign{Variable: "v_has_previous", Value: &pg.Exists{Query: &pg.Select{
			From:  b.stored(),
			Where: pg.AllOf(upTo(keys, position, b.table), condition),
		}}},
	)...))
}

// generalList lowers a list for every filter and page. Its statement is text put
// together from fragments that are fixed here, one per operator; each takes its
// operand from the filter, which is the statement's one parameter. Nothing of a
// request is ever part of the text.
func (l *lowering) generalList(a *schema.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name+", any filter and page", pg.Stable)

	isBackwards := b.variable("v_is_backwards", "boolean", pg.Op(input, "?|", pg.Str("{last,before}")))
	size := b.variable("v_size", "bigint", pg.As(pg.Fn("coalesce",
		memberText(input, "first"), memberText(input, "last"), memberText(input, "limit"), pg.Str(defaultPageSize)), "bigint"))
	offset := b.variable("v_offset", "bigint", pg.As(pg.Fn("coalesce", memberText(input, "offset"), pg.Str("0")), "bigint"))
	var keys pg.Expr
	if len(a.Sortable) > 0 {
		keys = b.variable("v_keys", "platform.sort_key[]", pg.Str("{}"))
	} else {
		keys = b.variable("v_keys", "constant platform.sort_key[]", keysArray(ownOrder(a), b.table))
	}
	where := member(input, "where")
	path := b.variable("v_path", "text", nil)
	operand := b.variable("v_operand", "jsonb", nil)
	// The statement reads without row security, so that every condition may use an
	// index; the rows of the page are then read under it.
	sql := b.variable("v_sql", "text", &pg.Fragment{
		Prefix: " ",
		Query:  &pg.QueryTail{From: pg.Ref(relatedSchema, b.table)},
		Suffix: " where true",
	})
	total := b.variable("v_total", "bigint", nil)
	position := b.variable("v_position", "jsonb", nil)
	rowsBefore := b.variable("v_has_rows_before", "boolean", pg.False())
	ids := b.variable("v_ids", "text[]", nil)
	records := b.variable("v_records", "text[]", nil)
	count := b.variable("v_count", "int", nil)

	sum := func(parts ...pg.Expr) pg.Expr {
		all := parts[0]
		for _, p := range parts[1:] {
			all = pg.Op(all, "||", p)
		}
		return all
	}
	if len(a.Sortable) > 0 {
		b.requestedOrder(keys)
	}
	b.filter(where, path, operand, sql)
	b.step("", pg.IfThen(pg.Eq(member(input, "totalCount"), pg.Str("true")),
		&pg.Execute{Text: sum(pg.Str("select count(*)"), sql), Into: "v_total", Using: []pg.Expr{where}}))

	beyond := pg.Fn("platform.beyond_sql", keys, isBackwards, position)
	b.step("The page lies beyond a position, which is $2.", pg.IfThen(pg.Op(input, "?|", pg.Str("{after,before}")),
		&pg.Assign{Variable: "v_position", Value: pg.Fn("platform.read_cursor", input, pg.Str(a.Name), keys)},
		&pg.Execute{
			Text:  sum(pg.Str("select exists (select"), sql, pg.Str(" and ("), beyond, pg.Str(") is not true)")),
			Into:  "v_has_rows_before",
			Using: []pg.Expr{where, position},
		},
		&pg.Assign{Variable: "v_sql", Value: sum(sql, pg.Str(" and "), beyond)},
	))
	b.step("", &pg.Execute{
		Text: sum(
			&pg.Fragment{Prefix: "select array(select ", Value: pg.Col(b.table, "id")},
			sql,
			pg.Str(" order by "),
			pg.Fn("platform.order_sql", keys, isBackwards),
			pg.Str(" limit $3 offset $4)"),
		),
		Into:  "v_ids",
		Using: []pg.Expr{where, position, pg.Op(size, "+", pg.Lit("1")), offset},
	})
	b.step("Rows were skipped if there are any.", pg.IfThen(pg.Op(offset, ">", pg.Lit("0")),
		&pg.Execute{Text: sum(pg.Str("select exists (select"), sql, pg.Str(")")), Into: "v_has_rows_before", Using: []pg.Expr{where}}))

	page := pageAlias(b.table)
	place := pg.Col(page, "place")
	b.step("The page's rows, under row security. This statement is static, whatever the filter: its plan is kept.",
		&pg.Query{Select: &pg.Select{
			Columns: []pg.Output{{Value: pg.Fn("array_agg", b.recordText())}},
			Into:    []string{"v_records"},
			From: &pg.SubqueryRef{Alias: b.recordAlias(), Query: &pg.Select{
				Columns: b.record(),
				From: &pg.CallRef{
					Call:       pg.Fn("unnest", &pg.Slice{Array: ids, From: pg.Lit("1"), To: size}),
					Ordinality: true, Alias: page, Columns: []string{"id", "place"},
				},
				Joins:   []pg.Join{{Kind: "join", With: b.stored(), On: pg.Eq(pg.Col(b.table, "id"), pg.Col(page, "id"))}},
				OrderBy: []pg.Order{{Value: &pg.Case{Whens: []pg.When{{Condition: isBackwards, Result: pg.Op(pg.Lit("0"), "-", place)}}, Else: place}}},
			}},
		}},
		&pg.Assign{Variable: "v_count", Value: pg.Fn("coalesce", pg.Fn("cardinality", records), pg.Lit("0"))},
	)

	more := pg.Op(pg.Fn("cardinality", ids), ">", size)
	either := func(backwards, forwards pg.Expr) pg.Expr {
		return &pg.Case{Whens: []pg.When{{Condition: isBackwards, Result: backwards}}, Else: forwards}
	}
	cursorOf := func(id pg.Expr) pg.Expr {
		if len(a.Sortable) > 0 {
			return &pg.Case{Whens: []pg.When{{
				Condition: pg.Op(count, ">", pg.Lit("0")),
				Result:    pg.Fn("platform.cursor", pg.Fn("platform.list_mark", pg.Str(a.Name), keys), keysOfRow(a, id), keys),
			}}}
		}
		return cursor(a, ownOrder(a), id)
	}
	b.step("", &pg.Return{Value: pg.Fn("platform.list_page",
		records,
		cursorOf(&pg.Element{Array: ids, Index: either(count, pg.Lit("1"))}),
		cursorOf(&pg.Element{Array: ids, Index: either(pg.Lit("1"), count)}),
		either(rowsBefore, more),
		either(more, rowsBefore),
		count,
		total,
		&pg.Case{Whens: []pg.When{{Condition: hasMember(input, "limit"), Result: pg.Op(pg.Op(offset, "/", size), "+", pg.Lit("1"))}}},
	)})
	return b.finish()
}

// pageAlias is the alias of the ids of a page. A model may be called Page, and an
// alias must not hide its table.
func pageAlias(table string) string {
	if table == "page" {
		return "page_"
	}
	return "page"
}

// filterPath is the path of an implicit input below where.
func filterPath(in *schema.Input) []string {
	path := make([]string, len(in.Path))
	for i, f := range in.Path {
		path[i] = f.Name
	}
	return path
}
