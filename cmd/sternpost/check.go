package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/cmd/internal/home"
	"github.com/sternpost/sternpost/cmd/internal/watch"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxDiagnostics is the number of errors and warnings shown at a time.
const maxDiagnostics = 50

func newCheck() *cobra.Command {
	var format string
	var watching bool
	c := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Compile only, and print errors and warnings",
		Long: `Check compiles the project and prints errors and warnings, in the order of the
source. It also reads the server's settings in sternpost.yaml, and tries the
templates of mails in the folder mail. Custom code is installed in a Postgres of
this machine, which is started for that and removed. It exits with 1 if there is any error;
warnings do not count. With --watch it checks again after each change, until
Ctrl-C. With --format json each result is a line of its own.`,
		Args: takes(0, 1),
	}
	c.Flags().StringVar(&format, "format", "text", "how to print: text, or json for editors")
	c.Flags().BoolVar(&watching, "watch", false, "check again after each change")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return usageError(fmt.Errorf("--format takes text or json, not %q", format))
		}
		r := &checkReport{out: c.OutOrStdout(), diagnostics: c.ErrOrStderr(), json: format == "json", indent: !watching, code: codeCheck{start: postgres.Start}}
		defer r.code.stop()
		if !watching {
			return checkProject(c.Context(), r, projectDir(args))
		}
		return checkAndWatch(c.Context(), r, projectDir(args))
	}
	return c
}

// checkReport says where and how check reports.
type checkReport struct {
	out         io.Writer
	diagnostics io.Writer // of diagnostics as text
	json        bool
	indent      bool // whether JSON is spread over lines, for people
	code        codeCheck
}

// check checks the project in a folder once.
func checkProject(ctx context.Context, r *checkReport, dir string) error {
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return environmentError(err)
	}
	compiled, errs := sqlgen.Compile(project)
	if compiled != nil {
		inCode, err := r.code.check(ctx, r.diagnostics, compiled)
		if err != nil {
			return environmentError(err)
		}
		errs = append(errs, inCode...)
	}
	settings, err := checkSettings(dir, project.Config, errs)
	if err != nil {
		return environmentError(err)
	}
	templates, err := checkMails(dir)
	if err != nil {
		return environmentError(err)
	}
	errs = append(append(errs, settings...), templates...).Sorted()
	if r.json {
		return r.printJSON(errs)
	}
	if err := render(r.diagnostics, errs); err != nil {
		return err
	}
	if !errs.HasErrors() {
		fmt.Fprintln(r.out, "no errors")
	}
	return nil
}

// checkSettings reads a project's configuration file as a server does. It leaves out the lines in
// which the compiler has reported an error.
func checkSettings(dir string, file *syntax.Source, reported syntax.Errors) (errs syntax.Errors, err error) {
	if file == nil {
		return nil, nil
	}
	problems, err := config.CheckFile(filepath.Join(dir, file.Name))
	if err != nil {
		return nil, err
	}
	for _, p := range problems {
		isReported := slices.ContainsFunc(reported, func(d *syntax.Diagnostic) bool {
			return !d.Warning && d.Span.File == file && d.Span.Start.Line == p.Line
		})
		if !isReported {
			errs.Add(check.BadConfig, lineOf(file, p.Line), p.Err.Error())
		}
	}
	return errs, nil
}

// mailFolder is the folder of a project's mail templates.
const mailFolder = "mail"

// badTemplate is the code of an error in a mail template.
const badTemplate syntax.Code = "BadTemplate"

// checkMails tries a project's mail templates as a server does when it starts.
func checkMails(dir string) (errs syntax.Errors, err error) {
	_, err = mail.ReadTemplates(os.DirFS(filepath.Join(dir, mailFolder)))
	all, isSeveral := err.(interface{ Unwrap() []error })
	if !isSeveral {
		return nil, err
	}
	for _, err := range all.Unwrap() {
		var wrong *mail.FileError
		if !errors.As(err, &wrong) {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(dir, wrong.File))
		if err != nil {
			text = nil // it is not a file
		}
		errs.Add(badTemplate, lineOf(&syntax.Source{Name: wrong.File, Text: text}, wrong.Line()), wrong.Err.Error())
	}
	return errs, nil
}

// lineOf is the span of a line of a file, behind its indentation: of the first one if the number is 0.
func lineOf(file *syntax.Source, number int) syntax.Span {
	start := 0
	for range number - 1 {
		start += bytes.IndexByte(file.Text[start:], '\n') + 1
	}
	line, _, _ := bytes.Cut(file.Text[start:], []byte("\n"))
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	start, line = start+indent, line[indent:]
	return syntax.Span{File: file, Start: file.Place(start), End: file.Place(start + len(bytes.TrimRight(line, "\r")))}
}

// checkAndWatch checks the project in a folder now and after each change, until ctx
// ends. It reports unreadable files, which the next change may fix.
func checkAndWatch(ctx context.Context, r *checkReport, dir string) error {
	changes, err := watch.Project(ctx, dir, mailFolder)
	if err != nil {
		return environmentError(err)
	}
	for {
		var exit *exitError
		err := checkProject(ctx, r, dir)
		switch {
		case errors.As(err, &exit) && exit.cause != nil:
			fmt.Fprintf(r.diagnostics, "sternpost: %v\n", err)
		case err != nil && !r.json:
			fmt.Fprintln(r.out, "checking again after the next change")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		}
	}
}

func (r *checkReport) printJSON(errs syntax.Errors) error {
	encoder := json.NewEncoder(r.out)
	if r.indent {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(errs); err != nil {
		return environmentError(err)
	}
	if errs.HasErrors() {
		return inputError(nil)
	}
	return nil
}

// compile compiles a project, printing its errors and warnings.
func compile(w io.Writer, dir string) (*sqlgen.Compiled, error) {
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		return nil, environmentError(err)
	}
	compiled, errs := sqlgen.Compile(project)
	if err := renderFresh(w, dir, errs); err != nil {
		return nil, err
	}
	return compiled, nil
}

// renderFresh renders what no command has shown in the project, and counts the warnings that are as before.
func renderFresh(w io.Writer, dir string, errs syntax.Errors) error {
	fresh, known := home.Fresh(dir, errs, maxDiagnostics)
	err := render(w, fresh)
	if known > 0 {
		fmt.Fprintf(w, home.AsBefore+"\n", known)
	}
	return err
}

// render prints errors and warnings and returns an error if any was one.
func render(w io.Writer, errs syntax.Errors) error {
	if err := syntax.Render(w, errs, syntax.Options{Color: isTerminal(w), Max: maxDiagnostics}); err != nil {
		return environmentError(err)
	}
	if errs.HasErrors() {
		return inputError(nil)
	}
	return nil
}

// isTerminal tells whether a person reads the output.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
