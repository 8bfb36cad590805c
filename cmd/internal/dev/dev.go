// Package dev runs a project for its developer: a Postgres of its own, a server, and a
// loop that compiles and installs again after each change.
package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/home"
	"github.com/sternpost/sternpost/cmd/internal/newfile"
	"github.com/sternpost/sternpost/cmd/internal/pages"
	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/cmd/internal/watch"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/encryption"
	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Options say what to run, and how to report it.
type Options struct {
	Dir    string        // the project's folder
	Config config.Config // of the server, in development mode
	Out    io.Writer     // what a person reads
	Color  bool
	Max    int // how many diagnostics to show at a time

	In        io.Reader       // a person's answers; nil if nobody can be asked
	Allow     []string        // what may be lost, once: drop:post.subtitle
	Backfills []diff.Backfill // values for rows that are there, once
	Yes       bool            // whether a database that others may use is used without asking
}

// Run serves the project until ctx ends and then stops everything it started. A schema
// with errors does not end it: the errors are shown, and the earlier release is still
// served.
func Run(ctx context.Context, o Options) error {
	if _, err := sqlgen.ReadProject(o.Dir); err != nil {
		return err
	}
	kept, err := home.Make(o.Dir)
	if err != nil {
		return err
	}
	settings, err := withKeys(o.Config, kept)
	if err != nil {
		return err
	}
	var database *postgres.Server
	o.during("starting Postgres", func() {
		database, err = postgres.Start(ctx, postgres.Options{URL: settings.DatabaseURL, Dir: kept})
	})
	if err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	defer database.Stop()
	settings.DatabaseURL = database.URL()
	l := &loop{options: o, database: database, lines: readLines(ctx, o.In), data: pages.New(database.URL(), settings.Environ)}
	if ours := database.DataDir() != ""; !ours && !o.Yes {
		if goOn, err := l.mayUse(ctx); err != nil || !goOn {
			return err
		}
	}
	if settings.Storage.Type.IsFolder() && !filepath.IsAbs(settings.Storage.Directory) {
		settings.Storage.Directory = filepath.Join(o.Dir, settings.Storage.Directory)
	}

	admin := l.adminListener(&settings)
	serving, err := server.New(settings, server.Options{
		Role: "sternpost_server", AdminListener: admin, Data: l.data,
		WithoutRelease: "correct the errors that sternpost dev shows, and save the file; this server waits for the release",
	})
	if err != nil {
		return err
	}
	changes, err := watch.Project(ctx, o.Dir, seed.Folder)
	if err != nil {
		return err
	}
	// The first installation comes before the server asks for a release, so that no client
	// meets a server without one; errors in it are shown like any other.
	var installed *turnOutcome
	o.during("compiling and installing the schema", func() {
		if installed = l.turn(ctx); installed == nil {
			l.migrate(ctx)
		}
	})
	if ctx.Err() != nil {
		return nil
	}

	ended := make(chan error, 1)
	serve, stopServing := context.WithCancel(ctx)
	defer stopServing()
	go func() { ended <- serving.Run(serve) }()
	l.seeding = seeding{settings: settings, address: "http://" + serving.Addr().String()}
	o.during("starting the server", func() {
		seed.AwaitReady(ctx, l.seeding.address)
		if installed != nil {
			l.seed(ctx, installed)
		}
	})
	l.greet(settings, database, installed)
	for {
		select {
		case <-changes:
			l.question = nil // it was about the files as they were
			l.installed(ctx, settings, l.turn(ctx))
		case line, open := <-l.lines:
			if !open {
				l.lines = nil // nobody can be asked any more
				continue
			}
			l.installed(ctx, settings, l.answer(ctx, line))
		case err := <-ended:
			return err
		case <-database.Exited(): // killed, say, by a system that is short of memory
			stopServing()
			return errors.Join(
				fmt.Errorf("the database stopped, and its data is kept: start sternpost dev again (%w)", database.Err()), <-ended)
		}
	}
}

// during does some work, and says every five seconds that it still does.
func (o Options) during(doing string, work func()) {
	began, ticker, done := time.Now(), time.NewTicker(5*time.Second), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(o.Out, "still %s after %.0f s\n", doing, time.Since(began).Seconds())
			case <-done:
				return
			}
		}
	})
	work()
	ticker.Stop()
	close(done)
	telling.Wait()
}

// withKeys adds the missing keys of a home to settings.
func withKeys(settings config.Config, home string) (config.Config, error) {
	var err error
	if settings.SigningKey == "" {
		if settings.SigningKey, err = signingKey(home); err != nil {
			return settings, err
		}
	}
	if settings.EncryptionKey == "" {
		settings.EncryptionKey, err = encryptionKey(home)
	}
	return settings, err
}

// installed goes on after a turn, whose outcome is nil if nothing could be installed.
func (l *loop) installed(ctx context.Context, settings config.Config, outcome *turnOutcome) {
	if outcome == nil {
		return
	}
	l.seed(ctx, outcome)
	if !l.greeted {
		l.greet(settings, l.database, outcome)
	}
}

// loop compiles and installs, again and again.
type loop struct {
	options  Options
	database *postgres.Server
	greeted  bool
	behind   bool          // whether the last turn installed nothing, for a reason it told
	serves   bool          // whether there is a release
	settings []byte        // sternpost.yaml as it was last; nil before the first turn
	lines    <-chan string // what a person types; nil if nobody can be asked
	question *question     // nil while nothing is asked
	drift    string        // what was said to have been changed by hand
	data     *pages.Data   // tells the pages the result of each turn
	said     bytes.Buffer  // in this turn, for the pages
	seeding  seeding
}

// adminListener takes the address of the metrics. A developer does not wait for those: if
// the port is in use, as by a second project, there are none.
func (l *loop) adminListener(settings *config.Config) net.Listener {
	if settings.AdminPort == 0 {
		return nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(settings.AdminHost, strconv.Itoa(settings.AdminPort)))
	if err != nil {
		l.say("metrics are not served: %v (set another port: admin.port, or STERNPOST_ADMIN_PORT)", err)
		settings.AdminPort = 0
		return nil
	}
	return listener
}

// turn compiles and installs once and reports the outcome, in the terminal and on the
// pages. It returns nil if nothing could be installed.
func (l *loop) turn(ctx context.Context) *turnOutcome {
	l.said.Reset()
	outcome := l.build(ctx)
	switch {
	case outcome != nil:
		l.data.Installed(outcome.compiled, outcome.warnings)
		if err := l.keepClient(outcome.compiled); err != nil {
			l.say("%v", err)
		}
	case ctx.Err() == nil:
		l.data.Behind(l.said.String())
	}
	return outcome
}

// show shows diagnostics: the fresh ones in the terminal, and all errors on the pages,
// which keep showing them.
func (l *loop) show(all, fresh syntax.Errors) {
	syntax.Render(l.options.Out, fresh, syntax.Options{Color: l.options.Color, Max: l.options.Max})
	var errs syntax.Errors
	for _, d := range all {
		if !d.Warning {
			errs = append(errs, d)
		}
	}
	syntax.Render(&l.said, errs, syntax.Options{Max: l.options.Max})
}

// build compiles and installs once and reports the outcome.
func (l *loop) build(ctx context.Context) *turnOutcome {
	began := time.Now()
	project, err := l.readProject()
	if err != nil {
		l.say("%v", err)
		return nil
	}
	settings := []byte{} // of a project without the file
	if project.Config != nil {
		settings = project.Config.Text
	}
	if l.settings != nil && !bytes.Equal(settings, l.settings) {
		l.say("%s was changed: restart sternpost dev to apply settings of the server", sqlgen.ConfigName)
	}
	l.settings = settings
	compiled, errs := sqlgen.Compile(project)
	fresh, known := home.Fresh(l.options.Dir, errs, l.options.Max)
	l.show(errs, fresh)
	if known > 0 {
		l.say(home.AsBefore, known)
	}
	if errs.HasErrors() {
		l.say("the schema has errors: correct them and save the file")
		l.behind = true
		return nil
	}
	outcome, err := l.install(ctx, compiled.Release())
	var refused *install.RefusedError
	var misfit *install.RowsError
	var value *install.BackfillError
	if l.lines != nil && l.hasAnswers() && (errors.As(err, &value) || errors.As(err, &misfit)) {
		l.say("%v", err)
		l.options.Allow, l.options.Backfills = nil, nil
		value, misfit = nil, nil
		outcome, err = l.install(ctx, compiled.Release()) // it is refused, and asks again
	}
	var code *install.CodeError
	var drift *install.DriftError
	switch {
	case errors.As(err, &code):
		l.show(code.Errors, code.Errors)
		l.say("the custom code has errors: correct them and save the file. %s", unchanged)
		l.behind = true
		return nil
	case errors.As(err, &refused):
		l.behind = true
		l.refused(refused)
		return nil
	case errors.As(err, &drift):
		l.say("the new schema cannot be installed, because the database was changed by hand: %v\n"+
			"%s. Undo the change in the database%s", drift.Cause, unchanged, l.startOver())
		l.behind = true
		return nil
	case errors.As(err, &value):
		l.say("%v\n%s. Stop, and run this with another value:\n  %s",
			err, unchanged, l.command([]*diff.Refusal{{Backfill: value.Backfill.Table + "." + value.Backfill.Column}}))
		l.behind = true
		return nil
	case errors.Is(err, pg.ErrDescriptionFormat):
		l.say("%v", err)
		l.behind = true
		return nil
	case errors.As(err, &misfit):
		l.say("%v\n%s. %s", err, unchanged, wayOut(misfit))
		l.behind = true
		return nil
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		l.say("%v", err)
		l.behind = true
		return nil
	}
	if !outcome.Changed && l.behind {
		l.say("nothing has changed since release %d, which is still served", outcome.Release)
	}
	l.behind = false
	for _, w := range outcome.Plan.Warnings {
		l.say("%s: %s", w.Place, w.Message)
	}
	if outcome.Changed {
		l.tellLost(outcome.Plan)
		l.forget(outcome.Plan)
		l.say("release %d installed in %d ms", outcome.Release, time.Since(began).Milliseconds())
	}
	return &turnOutcome{compiled, errs}
}

// readProject reads the project, after writing its missing files of custom code.
func (l *loop) readProject() (*sqlgen.Project, error) {
	project, err := sqlgen.ReadProject(l.options.Dir)
	if err != nil {
		return nil, err
	}
	missing := sqlgen.Scaffold(project)
	if len(missing) == 0 {
		return project, nil
	}
	for _, f := range missing {
		name := filepath.Join(l.options.Dir, filepath.FromSlash(f.Name))
		if err := newfile.Write(name, f.Text); err != nil {
			return nil, fmt.Errorf("write custom code: %w", err)
		}
		l.say("wrote %s: complete the function in it", name)
	}
	return sqlgen.ReadProject(l.options.Dir)
}

// unchanged says what a refused change leaves.
const unchanged = "Nothing was changed, and the previous release is still served"

// wayOut says how to treat rows that do not fit the schema.
func wayOut(misfit *install.RowsError) string {
	if misfit.Cause.Code == "23502" { // not null
		return "Give a new required field a @default or make it optional,\nor change the rows"
	}
	return "Undo the change in the schema, or change the rows"
}

// startOver says how to empty the database, if it is ours.
func (l *loop) startOver() string {
	if l.database.DataDir() == "" {
		return ""
	}
	return ",\nor stop dev and start over with an empty database" + l.resetCommand()
}

// resetCommand is the command that empties the database, behind a colon, if it is ours.
func (l *loop) resetCommand() string {
	if l.database.DataDir() == "" {
		return ""
	}
	return ": sternpost reset" + l.dirArgument()
}

// turnOutcome is the result of a successful turn.
type turnOutcome struct {
	compiled *sqlgen.Compiled
	warnings syntax.Errors
}

// migrate updates the platform if no release did, since the server needs it to wait for
// one, and looks for a release that was installed before. If the database is away, the
// turn before has reported it.
func (l *loop) migrate(ctx context.Context) {
	conn, err := postgres.Connect(ctx, l.database.URL())
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = sql.Migrate(ctx, conn)
	if err == nil {
		err = conn.QueryRow(ctx, "select exists (select from platform.release)").Scan(&l.serves)
	}
	if err != nil && ctx.Err() == nil {
		l.say("install the platform: %v", err)
	}
}

func (l *loop) install(ctx context.Context, r *emit.Release) (install.Outcome, error) {
	conn, err := postgres.Connect(ctx, l.database.URL())
	if err != nil {
		return install.Outcome{}, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	l.tellDrift(ctx, conn, r.Database)
	return install.InstallWith(ctx, conn, r, install.Options{Allow: l.options.Allow, Backfills: l.options.Backfills, ByDev: true})
}

func (l *loop) say(format string, args ...any) {
	fmt.Fprintf(io.MultiWriter(l.options.Out, &l.said), format+"\n", args...)
}

// greet says the addresses and the requests to try.
func (l *loop) greet(settings config.Config, database *postgres.Server, installed *turnOutcome) {
	if installed == nil && l.serves {
		l.say("the release that was installed before is served at %s/; dev waits for a change in %s", settings.BaseURL, l.options.Dir)
		return
	}
	if installed == nil {
		l.say("nothing is installed yet: dev waits for a change in %s", l.options.Dir)
		return
	}
	l.greeted = true
	l.say("")
	l.say("Sternpost serves %s", l.options.Dir)
	if settings.Docs {
		l.say("  look at   %s/", settings.BaseURL)
	}
	l.say("  API       %s/api/json/<action>", settings.BaseURL)
	l.say("  health    %s/readyz", settings.BaseURL)
	if settings.PasswordEnabled && settings.PasswordSignup {
		l.say("  sign-up   anybody can make an account by a password; auth.password.signup: false ends that")
	}
	l.say("  database  %s", database.Describe())
	if database.DataDir() != "" { // else the address is the user's own, perhaps with a password
		l.say("  psql      psql '%s'", database.URL())
	}
	if requests := sample(installed.compiled.Manifest, settings.BaseURL); len(requests) > 0 {
		l.say("")
		l.say("Try, in another terminal:")
		for _, r := range requests {
			l.say("\n  # %s\n  %s", r.title, r.command)
		}
	}
	l.say("")
	l.say("Edit the schema and save it: it is compiled and served again. Ctrl-C stops everything.")
	l.say("")
}

// then kept, so that tokens outlive a restart.
func signingKey(home string) (string, error) {
	generate := func() (string, error) {
		key, err := auth.GenerateKey()
		return string(key), err
	}
	check := func(key string) error {
		_, err := auth.NewTokens(auth.TokenOptions{SigningKey: []byte(key), BaseURL: "http://localhost", Lifetime: time.Hour})
		return err
	}
	return keptKey(filepath.Join(home, "signing-key.pem"), "signing key", generate, check)
}

// encryptionKey returns the key that encrypts secrets in development, likewise.
func encryptionKey(home string) (string, error) {
	generate := func() (string, error) { return encryption.GenerateKey(), nil }
	check := func(key string) error {
		_, err := encryption.New(strings.TrimSpace(key), nil)
		return err
	}
	return keptKey(filepath.Join(home, "encryption-key"), "encryption key", generate, check)
}

// keptKey reads a key from a file, or makes one and writes it there.
func keptKey(name, what string, generate func() (string, error), check func(string) error) (string, error) {
	text, err := os.ReadFile(name)
	if err == nil && strings.TrimSpace(string(text)) != "" {
		if err := check(string(text)); err != nil {
			return "", fmt.Errorf("the %s in %s: %w; if you remove the file, dev makes a new key", what, name, err)
		}
		return string(text), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the %s: %w", what, err)
	}
	key, err := generate()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(name, []byte(key), 0o600); err != nil {
		return "", fmt.Errorf("write the %s: %w", what, err)
	}
	return key, nil
}
