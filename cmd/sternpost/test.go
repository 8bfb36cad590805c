package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/cmd/internal/trial"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen/install"
)

func newTest() *cobra.Command {
	f := &testFlags{}
	c := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Make the calls of tests/ and compare the answers",
		Long: `Test makes the calls of tests/*.yaml and tests/*.json, in a database with the rows of
seed/, and compares the status and the answer of each with what must come. A file has the
form of a seed:

  calls:
    - action: createTask
      input: {title: Sweep}
      answer: {title: Sweep, state: Open}
    - {action: deleteTask, input: {id: read}, status: 403}
    - {action: deleteTask, as: me@example.com, input: {id: read}}

Each file begins with the seeds, whatever others have written. Nothing outside is reached:
no mail is sent, and no webhook told.

With --matrix it also compares who reaches which rows of the seeds, by the rules, with
tests/matrix.txt. --update writes that file.

Test starts a Postgres for this time, unless --scratch-url names one. It exits with 1 if
anything differs, or if the schema, a seed or a test is wrong.`,
		Args: takes(0, 1),
	}
	c.Flags().BoolVar(&f.matrix, "matrix", false, "also compare who reaches which rows with tests/matrix.txt")
	c.Flags().BoolVar(&f.update, "update", false, "write tests/matrix.txt")
	c.Flags().StringVar(&f.junit, "junit", "", "a `file` to write the results to, as JUnit's XML")
	c.Flags().StringVar(&f.scratchURL, "scratch-url", "", "a Postgres to test on, with a role that may create databases and roles (default: test starts one)")
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.test(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), projectDir(args))
	}
	return c
}

// testFlags are the flags of test.
type testFlags struct {
	matrix, update    bool
	junit, scratchURL string
}

// test tests a project.
func (f *testFlags) test(ctx context.Context, out, diagnostics io.Writer, dir string) (err error) {
	compiled, err := compile(diagnostics, dir)
	if err != nil {
		return err
	}
	settings, err := developmentSettings(dir)
	if err != nil {
		return inputError(err)
	}
	files, err := seed.ReadTests(dir)
	if err != nil {
		return inputError(err)
	}
	if len(files) == 0 && !f.matrix && !f.update {
		return inputError(fmt.Errorf("there is nothing to test: write %s", filepath.Join(dir, seed.Tests, "tasks.yaml")))
	}
	bench, err := trial.Open(ctx, trial.Options{Dir: dir, Config: settings, Compiled: compiled, ScratchURL: f.scratchURL, Log: diagnostics})
	var code *install.CodeError
	var missing *postgres.NotFoundError
	var away *pgconn.ConnectError
	switch {
	case errors.As(err, &code):
		return render(diagnostics, code.Errors)
	case errors.As(err, &missing), errors.As(err, &away):
		return environmentError(err)
	case err != nil:
		return inputError(err)
	}
	defer func() {
		if failed := bench.Close(ctx); err == nil && failed != nil {
			err = environmentError(failed)
		}
	}()
	results, err := f.results(ctx, bench, files, dir)
	if err != nil {
		return inputError(err)
	}
	calls, failures := 0, 0
	for _, r := range results {
		for _, c := range r.Calls {
			calls++
			if c.Failure != "" {
				failures++
			}
			if _, err := io.WriteString(out, c.Failure); err != nil {
				return environmentError(err)
			}
		}
	}
	if f.junit != "" {
		if err := writeJUnit(f.junit, results); err != nil {
			return environmentError(err)
		}
	}
	if failures > 0 {
		fmt.Fprintf(out, "%d of %d differ\n", failures, calls)
		return inputError(nil)
	}
	fmt.Fprintf(out, "%d as they must be\n", calls)
	return nil
}

// results makes the calls of files, and compares or writes the matrix.
func (f *testFlags) results(ctx context.Context, bench *trial.Bench, files []seed.File, dir string) (results []trial.Result, err error) {
	for _, file := range files {
		r, err := bench.Try(ctx, file)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	if !f.matrix && !f.update {
		return results, nil
	}
	began := time.Now()
	matrix, err := bench.Matrix(ctx)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, filepath.FromSlash(trial.MatrixFile))
	if f.update {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		return results, os.WriteFile(name, []byte(matrix), 0o666)
	}
	kept, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: write it with sternpost test --update, and read it", name)
	} else if err != nil {
		return nil, err
	}
	compared := trial.Call{Call: seed.Call{Action: "the matrix"}, Line: 1, Failure: trial.Compare(string(kept), matrix), Took: time.Since(began)}
	return append(results, trial.Result{File: trial.MatrixFile, Calls: []trial.Call{compared}}), nil
}

// writeJUnit writes results to a file.
func writeJUnit(name string, results []trial.Result) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return trial.JUnit(file, results)
}
