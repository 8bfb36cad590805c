package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/cmd/internal/dev"
	"github.com/sternpost/sternpost/cmd/internal/newfile"
	"github.com/sternpost/sternpost/sqlgen"
)

//go:embed project
var newProject embed.FS

// newFiles are the files of a new project: their sources and their targets.
var newFiles = [...]struct{ from, to string }{
	{"project/schema.stern", "schema.stern"},
	{"project/sternpost.yaml", sqlgen.ConfigName},
	{"project/functions/countTasks.sql", "functions/countTasks.sql"},
	{"project/seed/tasks.json", "seed/tasks.json"},
	{"project/tests/tasks.yaml", "tests/tasks.yaml"},
	{"project/AGENTS.md", "AGENTS.md"},
	{"project/gitignore", ".gitignore"},
}

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Make a new project",
		Long: `Init makes a folder with a first schema, function, rows and test, a configuration
file, a .gitignore, and AGENTS.md, which tells coding agents how to work here. It
overwrites nothing: if the folder has one of these files, init leaves it as it is.`,
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if dir == "" {
				return usageError(errors.New("give the folder to make"))
			}
			if info, err := os.Stat(dir); err == nil && !info.IsDir() {
				return inputError(fmt.Errorf("%s is a file; give the folder to make", dir))
			}
			for _, f := range newFiles {
				if exists(filepath.Join(dir, f.to)) {
					return inputError(fmt.Errorf("%s has a file %s already; nothing was written", dir, f.to))
				}
			}
			if p, err := sqlgen.ReadProject(dir); err == nil && len(p.Files) > 0 {
				return inputError(fmt.Errorf("%s has a schema already (%s); nothing was written", dir, p.Files[0].Name))
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return environmentError(err)
			}
			for _, f := range newFiles {
				text, err := newProject.ReadFile(f.from)
				if err != nil {
					return environmentError(err)
				}
				if err := newfile.Write(filepath.Join(dir, filepath.FromSlash(f.to)), text); err != nil {
					return environmentError(err)
				}
			}
			fmt.Fprintf(c.OutOrStdout(), "made %s; serve it with: sternpost dev %s\n", dir, dev.ShellQuoted(dir))
			return nil
		},
	}
}
