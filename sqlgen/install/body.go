package install

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/code"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkBodies has the extension plpgsql_check check tables, columns, functions and types in bodies in PL/pgSQL;
// Postgres itself checks them when they run. It does so if the database has the extension, or if this role may create
// it: that is undone before anyone sees it. Otherwise it finds nothing. Postgres reads bodies in SQL when they are
// made.
func checkBodies(ctx context.Context, tx pgx.Tx, db *pg.Database) error {
	if len(db.Code) == 0 {
		return nil
	}
	inner, err := tx.Begin(ctx)
	if err != nil {
		return fmt.Errorf("look at the bodies of custom code: %w", err)
	}
	defer inner.Rollback(context.WithoutCancel(ctx))

	schema, err := bodyChecker(ctx, inner)
	if err != nil || schema == "" {
		return err
	}
	faults, err := bodyFaults(ctx, inner, schema)
	if err != nil || len(faults) == 0 {
		return err
	}
	var errs syntax.Errors
	for _, f := range faults {
		d := &syntax.Diagnostic{Span: f.place(sources(db)), Code: syntax.Code(f.State), Message: f.Message}
		for _, more := range []string{f.Detail, f.Hint} {
			if more != "" {
				d.Notes = append(d.Notes, syntax.Note{Message: more})
			}
		}
		errs = append(errs, d)
	}
	return &CodeError{Errors: errs.Sorted()}
}

// bodyChecker returns the schema that holds the functions of plpgsql_check. It creates the extension if necessary and
// allowed; "" means that it is not available.
func bodyChecker(ctx context.Context, tx pgx.Tx) (schema string, err error) {
	const made = "sternpost_body_check"
	var mayMake bool
	err = tx.QueryRow(ctx, `
		select
			coalesce((
				select quote_ident(nspname)
				from pg_catalog.pg_extension
				join pg_catalog.pg_namespace on pg_namespace.oid = extnamespace
				where extname = 'plpgsql_check' and has_schema_privilege(pg_namespace.oid, 'usage')
			), ''),
			(select rolsuper from pg_catalog.pg_roles where rolname = current_user)
				and exists (select from pg_catalog.pg_available_extensions where name = 'plpgsql_check' and installed_version is null)`,
	).Scan(&schema, &mayMake)
	if err == nil && schema == "" && mayMake {
		schema = made
		_, err = tx.Exec(ctx, "create schema "+made+"; create extension plpgsql_check with schema "+made)
	}
	if err != nil {
		return "", fmt.Errorf("look for plpgsql_check: %w", err)
	}
	return schema, nil
}

// bodyFault is a fault that plpgsql_check finds.
type bodyFault struct {
	Function, Body                      string
	Line                                int // of the body, from 1
	State, Message, Detail, Hint, Query string
	Position                            int // in the query, in characters from 1
}

// bodyFaults checks the functions of schema functions, with names looked up as in a call. Only wrong names and types
// count: other faults may depend on the course of a call.
func bodyFaults(ctx context.Context, tx pgx.Tx, schema string) ([]bodyFault, error) {
	if _, err := tx.Exec(ctx, "set local search_path = pg_catalog, pg_temp"); err != nil {
		return nil, fmt.Errorf("check the bodies of custom code: %w", err)
	}
	rows, err := tx.Query(ctx, `
		select
			proname, prosrc, coalesce(found.lineno, 1), found.sqlstate, found.message,
			coalesce(found.detail, ''), coalesce(found.hint, ''), coalesce(found.query, ''), coalesce(found.position, 0)
		from pg_catalog.pg_proc
		join pg_catalog.pg_language on pg_language.oid = prolang
		cross join `+schema+`.plpgsql_check_function_tb(
			pg_proc.oid, fatal_errors => false, other_warnings => false, extra_warnings => false, performance_warnings => false
		) as found
		where pronamespace = 'functions'::regnamespace and lanname = 'plpgsql' and prorettype <> 'trigger'::regtype
			and found.level = 'error' and found.sqlstate like '42%'
		order by proname, found.lineno`)
	if err != nil {
		return nil, fmt.Errorf("check the bodies of custom code: %w", err)
	}
	faults, err := pgx.CollectRows(rows, pgx.RowToStructByPos[bodyFault])
	if err != nil {
		return nil, fmt.Errorf("check the bodies of custom code: %w", err)
	}
	return faults, nil
}

// place finds a fault in the files: its word, else its line.
func (f bodyFault) place(files []*syntax.Source) syntax.Span {
	for _, file := range files {
		for _, s := range code.Statements(file.Text) {
			if s.Function != f.Function || s.Body == nil || s.Body.Text() != f.Body {
				continue
			}
			at := f.offset()
			return syntax.Span{
				File:  file,
				Start: file.Place(s.Body.Place(at)),
				End:   file.Place(code.WordEnd(file.Text, s.Body.Place(at))),
			}
		}
	}
	return syntax.Span{}
}

// offset returns the byte of the body where the fault is.
func (f bodyFault) offset() int {
	start := 0
	for range f.Line - 1 {
		next := strings.IndexByte(f.Body[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	// The query begins on its line, and has as many characters as the body there: the word
	// perform is replaced by one that is a character shorter.
	line, _, _ := strings.Cut(f.Body[start:], "\n")
	first, _, _ := strings.Cut(f.Query, " ")
	query := strings.Index(line, first)
	if perform := strings.Index(strings.ToLower(line), "perform"); query < 0 && perform >= 0 && first == "SELECT" {
		query = perform + 1
	}
	if f.Position > 0 && query >= 0 {
		at := start + query
		for i := range f.Body[at:] {
			if f.Position--; f.Position == 0 {
				return at + i
			}
		}
	}
	for start < len(f.Body) && (f.Body[start] == ' ' || f.Body[start] == '\t') {
		start++
	}
	return start
}
