package emit

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// selectDoc lays out a query without the group around it: its clauses break together with the surrounding brackets or
// statement.
func selectDoc(q *pg.Select) doc {
	return group(selectClauses(q))
}

func selectClauses(q *pg.Select) doc { return queryClauses("select", q) }

// queryClauses lays out a query that begins with select or perform.
func queryClauses(word string, q *pg.Select) doc {
	parts := catDoc{word}
	if len(q.Columns) > 0 {
		parts = append(parts, columns(q.Columns))
	}
	if len(q.Into) > 0 {
		into := make([]doc, len(q.Into))
		for i, v := range q.Into {
			into[i] = expr(v, bindAny)
		}
		parts = append(parts, line, group("into", nest(line, commaLines(into))))
	}
	if q.From != nil {
		parts = append(parts, line, tailDoc(&pg.QueryTail{From: q.From, Joins: q.Joins, Where: q.Where}))
	} else if q.Where != nil {
		parts = append(parts, line, "where ", conjuncts(q.Where))
	}
	if len(q.GroupBy) > 0 {
		parts = append(parts, line, group("group by", nest(line, commaLines(exprs(q.GroupBy)))))
	}
	if q.Having != nil {
		parts = append(parts, line, "having ", conjuncts(q.Having))
	}
	for _, more := range q.UnionAll {
		parts = append(parts, hard, "union all", hard, selectClauses(more))
	}
	if len(q.OrderBy) > 0 {
		parts = append(parts, line, group("order by", nest(line, commaLines(orders(q.OrderBy)))))
	}
	if q.Limit != nil {
		parts = append(parts, line, "limit ", expr(q.Limit, bindAny))
	}
	if q.Offset != nil {
		parts = append(parts, line, "offset ", expr(q.Offset, bindAny))
	}
	if q.Lock != "" {
		parts = append(parts, line, "for ", q.Lock)
	}
	return parts
}

// columns lays out a select list: behind select while it fits, else one per line.
func columns(list []pg.Output) doc {
	docs := make([]doc, len(list))
	for i, c := range list {
		docs[i] = expr(c.Value, bindAny)
		if c.As != "" && (c.Quote || !isNamed(c)) {
			alias := pg.Ident(c.As)
			if c.Quote {
				alias = pg.QuoteIdent(c.As)
			}
			docs[i] = cat(docs[i], " as ", alias)
		}
	}
	if len(docs) == 1 {
		return cat(" ", docs[0])
	}
	return group(nest(line, commaLines(docs)))
}

// isNamed tells whether a column of a result has its intended name by itself.
func isNamed(o pg.Output) bool {
	c, ok := o.Value.(*pg.ColumnRef)
	return ok && c.Name == o.As
}

func tailDoc(q *pg.QueryTail) doc {
	parts := catDoc{"from ", from(q.From)}
	for _, j := range q.Joins {
		joined := catDoc{j.Kind, " ", from(j.With)}
		if j.On != nil {
			joined = append(joined, nest(line, "on ", expr(j.On, bindAny)))
		}
		parts = append(parts, line, group(joined))
	}
	if q.Where != nil && !pg.IsTrue(q.Where) {
		parts = append(parts, line, "where ", conjuncts(q.Where))
	}
	return parts
}

func from(f pg.From) doc {
	switch f := f.(type) {
	case *pg.TableRef:
		name := pg.Ident(f.Name)
		if f.Schema != "" {
			name = pg.Qualified(f.Schema, f.Name)
		}
		if f.Alias != "" && f.Alias != f.Name {
			return name + " as " + pg.Ident(f.Alias)
		}
		return name
	case *pg.SubqueryRef:
		return cat(group("(", nest(soft, selectDoc(f.Query)), soft, ")"), " as ", pg.Ident(f.Alias))
	case *pg.UnionRef:
		parts := catDoc{}
		for i, q := range f.Queries {
			if i > 0 {
				parts = append(parts, line, "union", line)
			}
			parts = append(parts, group("(", nest(soft, selectDoc(q)), soft, ")"))
		}
		return cat(group("(", nest(soft, parts), soft, ")"), " as ", pg.Ident(f.Alias))
	case *pg.CallRef:
		parts := catDoc{expr(f.Call, bindAny)}
		if f.Ordinality {
			parts = append(parts, " with ordinality")
		}
		if f.Alias != "" {
			parts = append(parts, " as ", pg.Ident(f.Alias))
		}
		if len(f.Columns) > 0 {
			names := make([]doc, len(f.Columns))
			for i, c := range f.Columns {
				names[i] = pg.Ident(c)
			}
			parts = append(parts, " ", bracketed("(", names, ")"))
		}
		return parts
	}
	panic(fmt.Sprintf("emit: no layout for source of rows %T", f))
}
