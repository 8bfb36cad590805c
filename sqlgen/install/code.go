package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/code"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// CodeError is returned when the project's own SQL cannot be installed: Postgres
// refuses a file, or a function is not what the schema demands. Nothing was changed.
type CodeError struct {
	Errors syntax.Errors // in the files of custom code
	Cause  error         // Postgres' error; nil if it took the files
}

// Error lists the errors, each with its place.
func (e *CodeError) Error() string {
	var text strings.Builder
	if err := syntax.Render(&text, e.Errors, syntax.Options{}); err != nil {
		panic(fmt.Sprintf("install: write to a string: %v", err))
	}
	return "the custom code cannot be installed:\n" + strings.TrimSuffix(text.String(), "\n")
}

// Unwrap returns Postgres' error.
func (e *CodeError) Unwrap() error { return e.Cause }

// checkSource refuses code that the compiler refuses. A description need not come straight from the compiler, and the
// owner would run all other statements of a file.
func checkSource(db *pg.Database) error {
	var errs syntax.Errors
	code.Check(sources(db), &errs)
	if errs.HasErrors() {
		return &CodeError{Errors: errs.Sorted()}
	}
	return nil
}

// runCode runs a file of custom code. It sends each statement by itself, in the extended protocol, which takes one
// command at a time: Postgres refuses a text that it would split and the compiler did not.
func runCode(ctx context.Context, conn *pgconn.PgConn, file emit.Statement) error {
	source := &syntax.Source{Name: file.Code, Text: []byte(file.Text)}
	for _, s := range code.Statements(source.Text) {
		_, err := conn.ExecParams(ctx, file.Text[s.Start:s.End], nil, nil, nil, nil).Close()
		var refused *pgconn.PgError
		switch {
		case errors.As(err, &refused):
			d := &syntax.Diagnostic{Span: placeOf(source, s, refused), Code: syntax.Code(refused.Code), Message: refused.Message}
			for _, more := range []string{refused.Detail, refused.Hint} {
				if more != "" {
					d.Notes = append(d.Notes, syntax.Note{Message: more})
				}
			}
			return &CodeError{Errors: syntax.Errors{d}, Cause: err}
		case err != nil:
			return fmt.Errorf("run %s: %w", file.Code, err)
		}
	}
	return nil
}

// placeOf finds the place of a Postgres error in a file: the place in the statement that the error gives, else the
// beginning of the statement.
func placeOf(source *syntax.Source, s code.Statement, refused *pgconn.PgError) syntax.Span {
	offset, end := s.Start, s.Start
	if refused.Position > 0 {
		for range refused.Position - 1 { // the position counts characters
			_, size := utf8.DecodeRune(source.Text[offset:])
			offset += size
		}
		end = code.WordEnd(source.Text, offset)
	}
	return syntax.Span{File: source, Start: source.Place(offset), End: source.Place(end)}
}

// declared is a function of schema functions, as the catalog has it.
type declared struct {
	Name       string
	IsFunction bool // not a procedure or aggregate
	Names      []string
	Types      []string
	Defaults   int // of the last parameters
	Returns    string
	ReturnsSet bool
	Escalates  bool // security definer without a pinned search_path
}

// checkCode compares the functions that custom code has made with those that the actions call.
func checkCode(ctx context.Context, tx pgx.Tx, db *pg.Database) error {
	if len(db.Code) == 0 {
		return nil
	}
	if err := checkOnlyFunctions(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `
		select
			proname,
			prokind = 'f',
			array(
				select coalesce(proargnames[place], '')
				from generate_subscripts(coalesce(proallargtypes, string_to_array(proargtypes::text, ' ')::oid[]), 1) as place
				where proargmodes is null or proargmodes[place] in ('i', 'b', 'v')
				order by place
			),
			array(
				select input.type::oid::regtype::text
				from unnest(string_to_array(proargtypes::text, ' ')) with ordinality as input (type, place)
				order by input.place
			),
			pronargdefaults,
			coalesce(prorettype::regtype::text, ''),
			proretset,
			prosecdef and not exists (select from unnest(proconfig) as setting where setting like 'search_path=%')
		from pg_catalog.pg_proc
		where pronamespace = 'functions'::regnamespace
		order by proname, oid`)
	if err != nil {
		return fmt.Errorf("read the functions of custom code: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[declared])
	if err != nil {
		return fmt.Errorf("read the functions of custom code: %w", err)
	}

	c := codeCheck{code: sources(db)}
	for _, s := range db.Expected {
		wanted, err := spelled(ctx, tx, s)
		if err != nil {
			return err
		}
		c.signature(s, wanted, all)
	}
	for _, f := range all {
		if f.Escalates {
			c.errs.Add(check.FunctionSearchPath, c.definition(f.Name, ""),
				fmt.Sprintf("functions.%s is security definer and does not pin its search_path: add set search_path = pg_catalog, pg_temp", f.Name))
		}
	}
	if len(c.errs) > 0 {
		return &CodeError{Errors: c.errs.Sorted()}
	}
	return nil
}

// checkOnlyFunctions refuses all other objects of custom code. An object with rows would lose them when the schema is
// made anew; a trigger would run in every action, and keep plans from one with other row security.
func checkOnlyFunctions(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		select pg_describe_object('pg_class'::regclass, oid, 0)
		from pg_catalog.pg_class
		where relnamespace = 'functions'::regnamespace and relkind in ('r', 'p', 'm', 'f', 'S', 'v')
		union all
		select pg_describe_object('pg_trigger'::regclass, pg_trigger.oid, 0)
		from pg_catalog.pg_trigger
		join pg_catalog.pg_proc on pg_proc.oid = pg_trigger.tgfoid
		where pg_proc.pronamespace = 'functions'::regnamespace
		order by 1`)
	if err != nil {
		return fmt.Errorf("look for the objects of custom code: %w", err)
	}
	others, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for the objects of custom code: %w", err)
	}
	if len(others) > 0 {
		return fmt.Errorf("the custom code makes %s, but it can make functions only: schema functions is made anew at each installation",
			strings.Join(others, ", "))
	}
	return nil
}

// spelled writes the types of a signature as the catalog does.
func spelled(ctx context.Context, tx pgx.Tx, s *pg.Signature) (declared, error) {
	wanted := declared{Name: s.Name, IsFunction: true, ReturnsSet: s.ReturnsSet}
	types := []string{s.Returns}
	for _, a := range s.Arguments {
		wanted.Names = append(wanted.Names, a.Name)
		types = append(types, a.Type)
	}
	rows, err := tx.Query(ctx, "select name::regtype::text from unnest($1::text[]) with ordinality as given (name, place) order by place", types)
	if err == nil {
		types, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return declared{}, fmt.Errorf("read the types of %s: %w", s.Name, err)
	}
	wanted.Returns, wanted.Types = types[0], types[1:]
	return wanted, nil
}

// codeCheck gathers the errors in custom code.
type codeCheck struct {
	code []*syntax.Source
	errs syntax.Errors
}

func sources(db *pg.Database) []*syntax.Source {
	var list []*syntax.Source
	for _, f := range db.Code {
		list = append(list, &syntax.Source{Name: f.Name, Text: []byte(f.Text)})
	}
	return list
}

// signature checks that there is exactly one function that an action may mean.
func (c *codeCheck) signature(s *pg.Signature, wanted declared, all []declared) {
	var called, fitting []declared
	for _, f := range all {
		if f.Name != s.Name {
			continue
		}
		called = append(called, f)
		either := wanted
		if f.Returns == s.Or {
			either.Returns = s.Or
		}
		if f.serves(either) {
			fitting = append(fitting, f)
		}
	}
	place := c.definition(s.Name, s.File)
	switch {
	case len(fitting) == 1:
		return
	case len(fitting) > 1:
		c.errs.Add(check.FunctionSignature, place, fmt.Sprintf("several functions %s.%s fit the %s", s.Schema, s.Name, s.Origin.Of))
		return
	case len(called) == 0:
		c.errs.Add(check.FunctionSignature, place, fmt.Sprintf("the function of the %s is missing", s.Origin.Of), expected(s))
		return
	}
	notes := []syntax.Note{expected(s)}
	for _, f := range called {
		notes = append(notes, syntax.Note{Message: "found:    " + f.text()})
	}
	c.errs.Add(check.FunctionSignature, place, fmt.Sprintf("%s.%s is not the function that the %s calls", s.Schema, s.Name, s.Origin.Of), notes...)
}

func expected(s *pg.Signature) syntax.Note {
	return syntax.Note{Message: "expected: create function " + s.String()}
}

// serves tells whether a call with the wanted parameters, by name, is a call of the function, and has the wanted
// result.
func (f declared) serves(wanted declared) bool {
	if !f.IsFunction || f.Returns != wanted.Returns || f.ReturnsSet != wanted.ReturnsSet {
		return false
	}
	given := 0
	for i, name := range f.Names {
		switch at := index(wanted.Names, name); {
		case at >= 0 && f.Types[i] == wanted.Types[at]:
			given++
		case at >= 0, i < len(f.Names)-f.Defaults:
			return false
		}
	}
	return given == len(wanted.Names)
}

func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// text writes the function as the head of its definition.
func (f declared) text() string {
	parameters := make([]string, len(f.Names))
	for i, name := range f.Names {
		parameters[i] = strings.TrimPrefix(pg.ParamIdent(name)+" "+f.Types[i], `"" `)
		if i >= len(f.Names)-f.Defaults {
			parameters[i] += " default …"
		}
	}
	result := f.Returns
	if f.ReturnsSet {
		result = "setof " + result
	}
	return "create function functions." + pg.Ident(f.Name) + "(" + strings.Join(parameters, ", ") + ") returns " + result
}

// definition finds the place where custom code defines a function; else it is the file that should define it.
func (c *codeCheck) definition(name, file string) syntax.Span {
	for _, source := range c.code {
		for _, s := range code.Statements(source.Text) {
			if s.Function == name {
				return syntax.Span{File: source, Start: source.Place(s.Head), End: source.Place(s.HeadEnd)}
			}
		}
	}
	for _, source := range c.code {
		if source.Name == file {
			return syntax.Span{File: source, Start: source.Place(0), End: source.Place(0)}
		}
	}
	return syntax.Span{}
}
