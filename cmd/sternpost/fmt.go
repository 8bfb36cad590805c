package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func newFmt() *cobra.Command {
	var write, check bool
	c := &cobra.Command{
		Use:   "fmt [-w | --check] [FILE | DIR ...]",
		Short: "Format schema files",
		Long: `Fmt prints schema files in the one format of the language. It takes files, folders, or
without an argument this folder. In a folder it takes all *.stern and *.keel files. It
does not change a file with syntax errors.`,
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the file")
	c.Flags().BoolVar(&check, "check", false, "name the files that are not formatted, and exit with 1 if there are any")
	c.MarkFlagsMutuallyExclusive("write", "check")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{"."}
		}
		names, err := schemaFiles(args)
		if err != nil {
			return environmentError(err)
		}
		var errs syntax.Errors
		unformatted := 0
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return environmentError(err)
			}
			var own syntax.Errors
			tree := syntax.Parse(&syntax.Source{Name: name, Text: text}, &own)
			errs = append(errs, own...)
			if unparsed(own) {
				continue
			}
			formatted := syntax.Format(tree)
			switch {
			case check && !bytes.Equal(text, formatted):
				unformatted++
				fmt.Fprintln(c.OutOrStdout(), name)
			case check:
			case write && !bytes.Equal(text, formatted):
				if err := os.WriteFile(name, formatted, 0o666); err != nil {
					return environmentError(err)
				}
			case !write:
				if _, err := c.OutOrStdout().Write(formatted); err != nil {
					return environmentError(err)
				}
			}
		}
		if err := render(c.ErrOrStderr(), errs); err != nil {
			return err
		}
		if unformatted > 0 {
			return inputError(nil)
		}
		return nil
	}
	return c
}

// unparsed tells whether a tree lacks a part of its file.
func unparsed(errs syntax.Errors) bool {
	for _, e := range errs {
		if e.Code != syntax.NotSupportedYet && e.Code != syntax.BadName && !e.Warning {
			return true
		}
	}
	return false
}

// schemaFiles returns the named files, and the schema files of the named folders.
func schemaFiles(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		info, err := stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			names = append(names, arg)
			continue
		}
		err = filepath.WalkDir(arg, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != arg && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case !d.IsDir() && (strings.HasSuffix(name, ".stern") || strings.HasSuffix(name, ".keel")):
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
