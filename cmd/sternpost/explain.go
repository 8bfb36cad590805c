package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/home"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func newExplain() *cobra.Command {
	f := &explainFlags{}
	c := &cobra.Command{
		Use:   "explain ACTION [DIR]",
		Short: "Say why a call is admitted or refused",
		Long: `Explain evaluates the rules of the project for a call, without making the call. It
prints each rule with its place in the schema, the value of each of its clauses, and
what would have to hold for the rule to admit the call.

  sternpost explain cancelOrder --as ada@shop.example --input '{"id":"o1"}'

The rules are those of the schema in DIR. Explain reads rows from a database and
changes nothing there. The database is that of --database-url, else of DATABASE_URL
or the configuration, else the one that sternpost dev keeps in DIR. The login must be
its owner. Explain says so when the database holds another release than DIR.

For get, update and delete, explain finds the row by the inputs and conditions, or
takes the one of --row. For a list it shows the first rows. The row of a create
does not exist yet; --row applies the rules to an existing row instead. What the code of
a job or a subscriber may do to a row is explained under the name that sternpost
permissions shows, such as CloseMonth.updateInvoice, with --row. Explain never
shows values of Passwords and Secrets. It does not evaluate constraints and custom code.
It takes ctx.env and ctx.secrets from the environment. If the caller cannot send files
at present (429), a note says until when.

With --live, explain says instead what the answer of a live action depends on: after which
changes it is called again, and which callers share its calls.

As JSON: action, kind, model, caller, status (of the answer, null if it depends on a
row that is not written yet), outcome, early, rules[], validations[], rows[] (id,
selected, admitted, wheres, rules) and notes[]. Later versions may add members.

Explain exits with 0 whether the call is admitted or refused, with 1 if the schema, the
action, the caller or the input is wrong, and with 3 if there is no database.`,
		Args: takes(1, 2),
	}
	c.Flags().StringVar(&f.as, "as", "", "who calls: the id or e-mail of an Identity (default anonymous)")
	c.Flags().DurationVar(&f.signedIn, "signed-in", -1, "how long ago the caller showed a credential, such as 2m (default: too long)")
	c.Flags().BoolVar(&f.secondFactor, "second-factor", false, "the caller has shown a second factor")
	c.Flags().StringVar(&f.input, "input", "", "the body of the request, as JSON")
	c.Flags().StringArrayVar(&f.headers, "header", nil, "a header of the request, Name=value; repeatable")
	c.Flags().StringVar(&f.row, "row", "", "the id of a row to explain")
	c.Flags().BoolVar(&f.conditions, "conditions", false, "show the clauses of named conditions")
	c.Flags().BoolVar(&f.live, "live", false, "say what the answer of a live action depends on; no database is needed")
	c.Flags().StringVar(&f.databaseURL, "database-url", "", "database to read (default $DATABASE_URL, or that of dev)")
	c.Flags().StringVar(&f.format, "format", "text", "how to print: text, or json for scripts")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.format != "text" && f.format != "json" {
			return usageError(fmt.Errorf("--format takes text or json, not %q", f.format))
		}
		return f.explain(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args[0], projectDir(args[1:]))
	}
	return c
}

// explainFlags are the flags of explain.
type explainFlags struct {
	as, input, row, databaseURL, format string
	headers                             []string
	signedIn                            time.Duration
	secondFactor                        bool
	conditions, live                    bool
}

// explain compiles the project, finds the database and explains one call.
func (f *explainFlags) explain(ctx context.Context, out, diagnostics io.Writer, action, dir string) error {
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return environmentError(err)
	}
	compiled, errs := sqlgen.Compile(project)
	if compiled == nil {
		return renderFresh(diagnostics, dir, errs)
	}
	if a := compiled.Manifest.Action(action); f.live && a != nil {
		_, err := io.WriteString(out, explain.Live(a))
		return err
	}
	request, err := f.request(compiled, action)
	if err != nil {
		return inputError(err)
	}
	address, settings, stop, err := f.database(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	return f.explainInstalled(ctx, out, diagnostics, address, settings.Uploads.MaxOutstanding, compiled, request)
}

// meant suggests another action, or is empty if none has a similar name.
func meant(name string, actions []*model.Action) string {
	var names []string
	for _, a := range actions {
		names = append(names, a.Name)
	}
	if other := syntax.Suggest(name, names); other != "" {
		return fmt.Sprintf(" (did you mean %s?)", other)
	}
	return ""
}

// request reads the request to explain.
func (f *explainFlags) request(r *sqlgen.Compiled, name string) (explain.Request, error) {
	actions, isCode := slices.Clone(r.Schema.Actions), false
	for _, a := range r.Schema.CodeActions() {
		actions = append(actions, a.Action)
		isCode = isCode || a.Name == name
		if a.Name == name && !a.HasCaller && f.as != "" {
			return explain.Request{}, fmt.Errorf("nobody calls %s: leave out --as", a.Code)
		}
	}
	i := slices.IndexFunc(actions, func(a *model.Action) bool { return a.Name == name })
	if i < 0 {
		return explain.Request{}, fmt.Errorf("the schema has no action %s%s", name, meant(name, actions))
	}
	request := explain.Request{Action: actions[i], Caller: f.as, Row: f.row, Conditions: f.conditions, Headers: map[string]string{}}
	for _, header := range f.headers {
		name, value, ok := strings.Cut(header, "=")
		if !ok {
			return request, fmt.Errorf("--header takes Name=value, not %q", header)
		}
		name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
		if before, given := request.Headers[name]; given {
			value = before + ", " + value
		}
		request.Headers[name] = value
	}
	if f.signedIn >= 0 || f.secondFactor {
		shown, now := auth.Shown{At: 1}, time.Now()
		if f.signedIn >= 0 {
			shown.At = now.Add(-f.signedIn).Unix()
		}
		if f.secondFactor {
			shown.Methods = []string{"mfa"}
		}
		request.Token = auth.TokenText(now, "", shown)
	}
	var err error
	mentioned := explain.Mentions(request.Action)
	if request.Env, err = fromEnvironment(mentioned.Env); err != nil {
		return request, err
	}
	if request.Secrets, err = fromEnvironment(mentioned.Secrets); err != nil {
		return request, err
	}
	if isCode || f.input == "" && f.row != "" {
		return request, nil // the row is named, so nothing has to be looked up
	}
	request.Input, err = readInput(r.Manifest, name, f.input)
	return request, err
}

// fromEnvironment returns the values of names that an action mentions, which must exist,
// as for the server.
func fromEnvironment(names []string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		value, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("the environment has no value for %s, which the action reads", name)
		}
		values[name] = value
	}
	return values, nil
}

// readInput checks the body of a request, or one of its rows, as the server does.
func readInput(m *release.Manifest, action, body string) ([]byte, error) {
	i := slices.IndexFunc(m.Actions, func(a *release.Action) bool { return a.Name == action })
	reader, err := input.Compile(m.Schemas, cmp.Or(m.Actions[i].Row, m.Actions[i].Input))
	if err != nil {
		return nil, fmt.Errorf("read the schema of the input: %w", err)
	}
	in, err := reader.Read([]byte(body))
	var invalid *input.Invalid
	if errors.As(err, &invalid) {
		var problems []string
		for _, p := range invalid.Problems {
			problems = append(problems, p.Field+": "+p.Error)
		}
		return nil, fmt.Errorf("the input would be refused with 400:\n  %s", strings.Join(problems, "\n  "))
	}
	if err != nil {
		return nil, fmt.Errorf("read --input: %w", err)
	}
	return in.JSON, nil
}

// database returns the database to read, the settings, and a function that ends a database started here.
func (f *explainFlags) database(ctx context.Context, dir string) (address string, settings config.Config, stop func(), err error) {
	var more []string
	if f.databaseURL != "" {
		more = append(more, "DATABASE_URL="+f.databaseURL)
	}
	settings, err = developmentSettings(dir, more...)
	if err != nil {
		return "", settings, nil, inputError(err)
	}
	if settings.DatabaseURL != "" {
		return settings.DatabaseURL, settings, func() {}, nil
	}
	kept, err := filepath.Abs(filepath.Join(dir, home.Name))
	if err != nil {
		return "", settings, nil, environmentError(err)
	}
	if !exists(filepath.Join(kept, "postgres")) {
		return "", settings, nil, environmentError(fmt.Errorf("no database to explain with: run sternpost dev in %s first, or set --database-url or DATABASE_URL", dir))
	}
	// If dev is not running, its database is started for this time.
	started, err := postgres.Start(ctx, postgres.Options{Dir: kept})
	var inUse *postgres.InUseError
	if errors.As(err, &inUse) {
		address, err := runningAt(inUse.Dir)
		if err != nil {
			return "", settings, nil, environmentError(err)
		}
		return address, settings, func() {}, nil
	}
	if err != nil {
		return "", settings, nil, environmentError(fmt.Errorf("start the database of dev: %w", err))
	}
	return started.URL(), settings, func() { started.Stop() }, nil
}

// developmentSettings reads the settings of a project as dev does, with more variables.
func developmentSettings(dir string, more ...string) (config.Config, error) {
	source := config.Source{Env: slices.Concat([]string{"STERNPOST_MODE=development"}, os.Environ(), more)}
	if name := filepath.Join(dir, sqlgen.ConfigName); exists(name) {
		source.File = name
	}
	return config.Load(source)
}

// runningAt returns the URL of the server that runs on a data directory. The server notes
// its port and the directory of its socket in a file there.
func runningAt(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return "", fmt.Errorf("find the database of dev: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 5 || lines[4] == "" {
		return "", fmt.Errorf("find the database of dev: it is starting or stopping")
	}
	query := url.Values{"host": {lines[4]}, "port": {lines[3]}, "sslmode": {"disable"}}
	return "postgres://postgres@/postgres?" + strings.ReplaceAll(query.Encode(), "+", "%20"), nil
}

// explainInstalled explains a request against a database, in a transaction that can only read.
func (f *explainFlags) explainInstalled(ctx context.Context, out, diagnostics io.Writer, address string, mostUploads int, compiled *sqlgen.Compiled, request explain.Request) error {
	conn, err := postgres.Connect(ctx, address)
	if err != nil {
		return environmentError(fmt.Errorf("connect to the database: %w", err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return environmentError(fmt.Errorf("begin to read: %w", err))
	}
	defer tx.Rollback(context.WithoutCancel(ctx))

	number, isSame, err := explain.Installed(ctx, tx, compiled.Release())
	if err != nil {
		return environmentError(err)
	}
	if !isSame {
		fmt.Fprintf(diagnostics, "sternpost: the database holds release %d, which differs from this schema, so it may decide otherwise\n", number)
	}
	explanation, err := explain.Explain(ctx, tx, compiled.Schema, request)
	var caller *explain.CallerError
	switch {
	case errors.As(err, &caller):
		return inputError(err)
	case err != nil && !isSame:
		return environmentError(fmt.Errorf("the schema does not fit the database: %w", err))
	case err != nil:
		return environmentError(err)
	}
	if a := compiled.Manifest.Action(request.Action.Name); a != nil && len(a.Files) > 0 && explanation.Caller != nil {
		throttled, err := files.Throttled(ctx, tx, explanation.Caller.ID, mostUploads)
		if err != nil {
			return environmentError(err)
		}
		explanation.Notes = append(explanation.Notes, throttled...)
	}
	text := explain.JSON(explanation)
	if f.format == "text" {
		text = []byte(explain.Text(explanation))
	}
	if _, err := out.Write(text); err != nil {
		return environmentError(err)
	}
	return nil
}
