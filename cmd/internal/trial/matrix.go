package trial

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/cmd/internal/pages"
	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// MatrixFile is where a project keeps its matrix.
const MatrixFile = seed.Tests + "/matrix.txt"

const matrixHead = `# Who reaches which rows of the seeds by which action, as the rules decide it. For a create:
# which of them the caller could have made. Written by sternpost test --update.
`

// Matrix writes, for each action of an API, the rows of the seeds that each identity of the seeds, and an anonymous
// caller, reaches by it. Callers who reach the same rows are on one line.
func (b *Bench) Matrix(ctx context.Context) (string, error) {
	conn, err := postgres.Connect(ctx, b.seeded)
	if err != nil {
		return "", fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	result, err := conn.Query(ctx, "select identity.id, coalesce(identity.email, identity.id) from app.identity order by 2, 1")
	if err != nil {
		return "", fmt.Errorf("read the identities: %w", err)
	}
	type caller struct{ ID, Name string }
	callers, err := pgx.CollectRows(result, pgx.RowToStructByPos[caller])
	if err != nil {
		return "", fmt.Errorf("read the identities: %w", err)
	}
	callers = append([]caller{{Name: "anonymous"}}, callers...)
	text := matrixHead
	for _, action := range b.options.Compiled.Schema.Actions {
		if !seed.IsExposed(b.options.Compiled, action.Name) {
			continue
		}
		text += fmt.Sprintf("\n%s %s\n", action.Kind, action.Name)
		var reaches []string
		by := map[string][]string{}
		for _, c := range callers {
			reached, err := b.reached(ctx, conn, action, c.ID)
			if err != nil {
				return "", fmt.Errorf("explain %s as %s: %w", action.Name, c.Name, err)
			}
			if by[reached] == nil {
				reaches = append(reaches, reached)
			}
			by[reached] = append(by[reached], c.Name)
		}
		for _, reached := range reaches {
			who := strings.Join(by[reached], ", ")
			if len(reaches) == 1 {
				who = "everybody"
			}
			text += "  " + who + ": " + reached + "\n"
		}
	}
	return text, nil
}

// reached says which rows a caller reaches by an action.
func (b *Bench) reached(ctx context.Context, conn *pgx.Conn, action *model.Action, caller string) (string, error) {
	request := explain.Request{Action: action, Caller: caller, AllRows: true, Headers: map[string]string{}}
	mentioned := explain.Mentions(action)
	request.Env, request.Secrets = pages.Variables(b.options.Config.Environ, mentioned.Env), pages.Variables(b.options.Config.Environ, mentioned.Secrets)
	var e *explain.Explanation
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		e, err = explain.Explain(ctx, tx, b.options.Compiled.Schema, request)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case e.Early == expr.False:
		return "nothing (403)", nil
	case action.Kind == model.Create && e.Early == expr.True:
		return "any new row", nil
	case action.Kind.IsOfCode() && e.Early == expr.True:
		return "admitted", nil
	case action.Kind.IsOfCode():
		return "depends on the call", nil
	}
	var ids []string
	others, count := 0, 0
	for _, row := range e.Rows {
		switch {
		case !row.Selected && action.Kind != model.Create, e.Early != expr.True && !row.Admitted:
			continue
		case slices.ContainsFunc(b.seeds, func(f seed.File) bool { return bytes.Contains(f.Text(), []byte(row.ID)) }):
			ids = append(ids, row.ID)
		default:
			others++ // rows with made ids, which are others each time
		}
		count++
	}
	if others > 0 {
		ids = append(ids, fmt.Sprintf("+%d", others))
	}
	return strings.TrimSpace(fmt.Sprintf("%d of %d  %s", count, len(e.Rows), strings.Join(ids, " "))), nil
}

// Compare tells how a matrix differs from the kept one, action by action; empty if it does not.
func Compare(kept, now string) string {
	var text strings.Builder
	was, is := blocks(kept), blocks(now)
	for _, b := range was {
		if i := slices.IndexFunc(is, func(o block) bool { return o.action == b.action }); i >= 0 {
			b.compare(&text, is[i].lines)
		} else {
			b.compare(&text, nil)
		}
	}
	end := strings.Count(kept, "\n")
	for _, b := range is {
		if !slices.ContainsFunc(was, func(o block) bool { return o.action == b.action }) {
			block{action: b.action, line: end}.compare(&text, b.lines)
		}
	}
	return text.String()
}

// block is the part of a matrix for an action.
type block struct {
	action string
	line   int
	lines  []string
}

func blocks(matrix string) (all []block) {
	for i, line := range strings.Split(matrix, "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  ") && len(all) > 0:
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		default:
			all = append(all, block{action: line, line: i + 1})
		}
	}
	return all
}

func (b block) compare(text *strings.Builder, now []string) {
	if slices.Equal(b.lines, now) {
		return
	}
	fmt.Fprintf(text, "%s:%d: %s\n", MatrixFile, b.line, b.action)
	for _, line := range b.lines {
		if !slices.Contains(now, line) {
			fmt.Fprintf(text, "  - %s\n", line[2:])
		}
	}
	for _, line := range now {
		if !slices.Contains(b.lines, line) {
			fmt.Fprintf(text, "  + %s\n", line[2:])
		}
	}
}
