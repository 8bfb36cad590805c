package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// timeLimit is the longest time for a question.
const timeLimit = 10 * time.Second

// Session sets a session up in which values are read and written as texts.
const Session = "set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'iso_8601'"

// Data answers questions about one database. It may be asked concurrently.
type Data struct {
	url string // of the database, for its owner
	env []string

	mu       sync.Mutex
	compiled *sqlgen.Compiled // what is served; nil before the first installation
	warnings []string
	trouble  string
}

// New makes the data of a database, with its owner's URL. The actions that it explains read
// the variables of env.
func New(url string, env []string) *Data { return &Data{url: url, env: env} }

// Installed notes the served release with the warnings of its schema, and that nothing is wrong.
func (b *Data) Installed(c *sqlgen.Compiled, warnings syntax.Errors) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.compiled, b.trouble, b.warnings = c, "", []string{}
	for _, w := range warnings {
		b.warnings = append(b.warnings, fmt.Sprintf("%s:%d: %s (%s)", w.Span.File.Name, w.Span.Start.Line, w.Message, w.Code))
	}
}

// Behind notes why the current files could not be installed, in words for people. The
// earlier release is still served.
func (b *Data) Behind(why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = strings.TrimSpace(why)
}

// served returns the served release, or an error that nothing is served.
func (b *Data) served() (*sqlgen.Compiled, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.compiled == nil {
		return nil, wrong("no release is installed yet")
	}
	return b.compiled, nil
}

// Models returns the models of the installed schema; none before the first installation.
func (b *Data) Models() []release.Model {
	c, err := b.served()
	if err != nil {
		return nil
	}
	models := make([]release.Model, len(c.Schema.Models))
	for i, m := range c.Schema.Models {
		models[i] = release.Model{Name: m.Name, Doc: m.Doc, Table: m.Table}
	}
	return models
}

// Trouble returns why the served release differs from the project's files; empty if it does not.
func (b *Data) Trouble() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trouble
}

func wrong(format string, args ...any) error {
	return &docs.WrongError{Message: fmt.Sprintf(format, args...)}
}

// Ask answers a question. Its error is an *docs.WrongError if the question is wrong, or if the
// database refuses it.
func (b *Data) Ask(ctx context.Context, question string, input []byte) ([]byte, error) {
	answer := map[string]func(context.Context, *asked) (any, error){
		"overview": b.overview,
		"models":   models,
		"rows":     rows,
		"change":   change,
		"explain":  why,
		"signIns":  signIns,
	}[question]
	if answer == nil {
		return nil, wrong("the pages have no question %q", question)
	}
	compiled, err := b.served()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, Session); err != nil {
		return nil, fmt.Errorf("set up the session: %w", err)
	}
	a := &asked{Compiled: compiled, conn: conn, input: input, env: b.env}
	found, err := answer(ctx, a)
	if err != nil {
		return nil, a.refuse(err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(found); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return text.Bytes(), nil
}

// overview counts the rows of each model, up to maxCount and one, and lists the warnings of the schema.
func (b *Data) overview(ctx context.Context, a *asked) (any, error) {
	b.mu.Lock()
	warnings := b.warnings
	b.mu.Unlock()
	counts := map[string]int{}
	for _, m := range a.Schema.Models {
		var count int
		query := fmt.Sprintf("select count(*) from (select from %s limit %d) as counted", pg.Qualified("app", m.Table), maxCount+1)
		if err := a.conn.QueryRow(ctx, query).Scan(&count); err != nil {
			return nil, fmt.Errorf("count the rows of %s: %w", m.Name, err)
		}
		counts[m.Name] = count
	}
	return map[string]any{"rows": counts, "warnings": warnings}, nil
}

// asked is a question with its context.
type asked struct {
	*sqlgen.Compiled
	conn  *pgx.Conn
	input []byte
	env   []string
}

// read reads the input of a question, which has only the members of into.
func (a *asked) read(into any) error {
	decoder := json.NewDecoder(bytes.NewReader(a.input))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return wrong("the question cannot be read: %v", err)
	}
	return nil
}

// model returns the model of that name.
func (a *asked) model(name string) (*model.Model, error) {
	for _, m := range a.Schema.Models {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, wrong("the schema has no model %s", name)
}

// refuse turns the database's refusal into an error of the question: in the words of the API, if it is about a constraint
// of the schema.
func (a *asked) refuse(err error) error {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return err
	}
	refused := &docs.WrongError{Message: raised.Message}
	if raised.Detail != "" {
		refused.Message += ": " + raised.Detail
	}
	// As custom code, which may do any of this: the detail tells which side of a reference is broken.
	known := refusal.OfCall(err, &release.Action{Custom: true}, a.Manifest.Constraints, nil)
	if known.Status < http.StatusInternalServerError {
		refused.Message = known.Message
	}
	for _, m := range a.Schema.Models {
		if m.Table != raised.TableName {
			continue
		}
		for _, f := range m.Fields {
			if f.Column == raised.ColumnName && f.HasColumn() && raised.ColumnName != "" {
				refused.Field = f.Name
			}
		}
	}
	constraint, isKnown := a.Manifest.Constraints[raised.ConstraintName]
	if isKnown && len(constraint.Fields) > 0 {
		refused.Field = constraint.Fields[0]
	}
	if isKnown && constraint.Message != "" {
		refused.Message = constraint.Message
	}
	return refused
}
