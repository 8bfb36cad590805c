package emit

import (
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/layout"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// longStatement is how many characters a query that is a statement may have on one line; a longer one has a line for each
// clause.
const longStatement = 100

// statement lays out one PL/pgSQL statement, its semicolon included.
func statement(s pg.Statement) doc {
	switch s := s.(type) {
	case *pg.Perform:
		return group("perform ", expr(s.Value, bindAny), ";")
	case *pg.Assign:
		return group(s.Variable.Name, " := ", expr(s.Value, bindAny), ";")
	case *pg.Query:
		if len(s.Select.Into) == 0 {
			return group(queryClauses("perform", s.Select), ";")
		}
		return group(selectClauses(s.Select), ";")
	case *pg.Insert:
		return insert(s)
	case *pg.Update:
		return update(s)
	case *pg.Delete:
		return deletion(s)
	case *pg.If:
		return ifDoc(s)
	case *pg.Choose:
		return choose(s)
	case *pg.Return:
		if s.Value == nil {
			return cat("return;")
		}
		return group("return ", expr(s.Value, bindAny), ";")
	case *pg.ReturnQuery:
		d := []doc{"return query", nest(line, selectClauses(s.Query)), ";"}
		if !group(d...).(layout.Layout).IsWithin(longStatement) {
			return cat(d...)
		}
		return group(d...)
	case *pg.ReturnWritten:
		return cat("return query", nest(hard, statement(s.Write)))
	case *pg.Execute:
		return execute(s)
	case *pg.ReturnExecute:
		return cat("return query execute", nest(hard, expr(s.Text, bindAny), using(s.Using)), ";")
	case *pg.ReturnNext:
		if s.Row == nil {
			return cat("return next;")
		}
		return cat("return next ", expr(s.Row, bindAny), ";")
	case *pg.ForEach:
		return forEach(s)
	case *pg.ForElement:
		return cat(
			group("foreach ", s.Variable.Name, " in array ", expr(s.Array, bindAny), line, "loop"),
			nest(hard, statements(s.Body)), hard,
			"end loop;",
		)
	case *pg.CountRows:
		return cat("get diagnostics ", s.Into.Name, " = row_count;")
	case *pg.TestNow:
		name := pg.Qualified(s.Schema, s.Trigger)
		return cat("set constraints ", name, " immediate;", hard, "set constraints ", name, " deferred;")
	case *pg.Note:
		return comment(s.Text)
	}
	panic(fmt.Sprintf("emit: no layout for statement %T", s))
}

func statements(list []pg.Statement) doc {
	docs := make([]doc, len(list))
	for i, s := range list {
		docs[i] = statement(s)
	}
	return join(hard, docs)
}

func insert(s *pg.Insert) doc { return cat(insertClauses(s), ";") }

// insertClauses lays out an insert without its semicolon.
func insertClauses(s *pg.Insert) doc {
	parts := catDoc{with(s.With), "insert into ", pg.Qualified(s.Schema, s.Table)}
	names := make([]doc, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = pg.Ident(c)
	}
	parts = append(parts, " ", bracketed("(", names, ")"))
	if s.Query != nil {
		return cat(parts, hard, group(selectClauses(s.Query)), returning(s.Returning, s.Into))
	}
	return cat(parts, hard, "values ", bracketed("(", exprs(s.Values), ")"), returning(s.Returning, s.Into))
}

// with lays out the named parts of a statement.
func with(list []pg.Named) doc {
	if len(list) == 0 {
		return nil
	}
	parts := make([]doc, len(list))
	for i, n := range list {
		body := doc(nil)
		if n.Query != nil {
			body = group(selectClauses(n.Query))
		} else {
			body = insertClauses(n.Insert)
		}
		parts[i] = cat(pg.Ident(n.Name), " as (", nest(hard, body), hard, ")")
	}
	return cat("with ", join(cat(",", hard), parts), hard)
}

func update(s *pg.Update) doc {
	sets := make([]doc, len(s.Set))
	for i, a := range s.Set {
		sets[i] = cat(pg.Ident(a.Column), " = ", expr(a.Value, bindAny))
	}
	set := cat("set ", sets[0])
	if len(sets) > 1 {
		set = cat("set", nest(hard, join(cat(",", hard), sets)))
	}
	others := doc(nil)
	if s.From != nil {
		others = cat("from ", from(s.From), hard)
	}
	return cat("update ", pg.Qualified(s.Schema, s.Table), hard, set, hard, others, "where ", conjunctLines(s.Where), returning(s.Returning, s.Into), ";")
}

func deletion(s *pg.Delete) doc {
	others := doc(nil)
	if s.Using != nil {
		others = cat("using ", from(s.Using), hard)
	}
	return cat("delete from ", pg.Qualified(s.Schema, s.Table), hard, others, "where ", conjunctLines(s.Where), returning(s.Returning, s.Into), ";")
}

// conjunctLines lays out a condition with a line per conjunct.
func conjunctLines(e pg.Expr) doc {
	and, ok := e.(*pg.And)
	if !ok {
		return expr(e, bindAny)
	}
	parts := make([]doc, len(and.Operands))
	for i, o := range and.Operands {
		parts[i] = expr(o, bindNot)
	}
	return nest(join(cat(hard, "and "), parts))
}

func returning(values []pg.Expr, into *pg.Variable) doc {
	if len(values) == 0 {
		return nil
	}
	parts := catDoc{hard, group("returning", nest(line, commaLines(exprs(values))))}
	if into != nil {
		parts = append(parts, hard, "into ", into.Name)
	}
	return parts
}

func ifDoc(s *pg.If) doc {
	var parts catDoc
	for i, b := range s.Branches {
		word := "if "
		if i > 0 {
			word = "elsif "
		}
		parts = append(parts, group(word, conjuncts(b.Condition), line, "then"), nest(hard, statements(b.Then)), hard)
	}
	if len(s.Else) > 0 {
		parts = append(parts, "else", nest(hard, statements(s.Else)), hard)
	}
	return append(parts, "end if;")
}

func choose(s *pg.Choose) doc {
	parts := catDoc{"case ", expr(s.Value, bindAny)}
	for _, b := range s.Branches {
		parts = append(parts, nest(hard, "when ", expr(b.Value, bindAny), " then", nest(hard, statements(b.Then))))
	}
	return append(parts, hard, "end case;")
}

func execute(s *pg.Execute) doc {
	parts := catDoc{"execute ", expr(s.Text, bindAny)}
	if s.Into != nil {
		parts = append(parts, hard, "into ", s.Into.Name)
	}
	return append(parts, using(s.Using), ";")
}

// using is the values of the parameters of a text that is run.
func using(values []pg.Expr) doc {
	if len(values) == 0 {
		return ""
	}
	return cat(hard, group("using", nest(line, commaLines(exprs(values)))))
}

func forEach(s *pg.ForEach) doc {
	variables := make([]doc, len(s.Variables))
	for i, v := range s.Variables {
		variables[i] = v.Name
	}
	return cat(
		group("for ", join(", ", variables), " in", nest(line, selectDoc(s.Query)), line, "loop"),
		nest(hard, statements(s.Body)), hard,
		"end loop;",
	)
}
