package sqlgen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// ConfigName is the name of a project's configuration file.
const ConfigName = "sternpost.yaml"

// Project is what a compilation reads.
type Project struct {
	Files     []*syntax.Source // schema files, by name
	Config    *syntax.Source   // nil means the project has none
	Functions []string         // names of the files of custom code
}

// ReadProject reads the project in a folder: the *.stern and *.keel files there
// and in its folder schemas, sternpost.yaml, and the names of functions/*.sql. A
// folder without schema files is a project without schema, which is for Compile
// to report.
func ReadProject(dir string) (*Project, error) {
	root := os.DirFS(dir)
	if _, err := fs.Stat(root, "."); err != nil {
		return nil, fmt.Errorf("read project %s: %w", dir, err)
	}
	p := &Project{}
	for _, folder := range []string{".", "schemas"} {
		for _, pattern := range []string{"*.stern", "*.keel"} {
			names, err := fs.Glob(root, path.Join(folder, pattern))
			if err != nil {
				return nil, fmt.Errorf("look for schema files: %w", err)
			}
			for _, name := range names {
				text, err := fs.ReadFile(root, name)
				if err != nil {
					return nil, fmt.Errorf("read schema: %w", err)
				}
				p.Files = append(p.Files, &syntax.Source{Name: name, Text: text})
			}
		}
	}
	sort.Slice(p.Files, func(i, j int) bool { return p.Files[i].Name < p.Files[j].Name })

	config, err := fs.ReadFile(root, ConfigName)
	switch {
	case err == nil:
		p.Config = &syntax.Source{Name: ConfigName, Text: config}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read configuration: %w", err)
	}

	functions, err := fs.Glob(root, "functions/*.sql")
	if err != nil {
		return nil, fmt.Errorf("look for custom code: %w", err)
	}
	p.Functions = functions
	return p, nil
}

// IsInput tells whether a change of the file at a path within a project can
// change what Compile returns.
func IsInput(name string) bool {
	dir, base := path.Split(path.Clean(strings.ReplaceAll(name, `\`, "/")))
	switch dir {
	case "", "schemas/":
		return base == ConfigName && dir == "" || strings.HasSuffix(base, ".stern") || strings.HasSuffix(base, ".keel")
	case "functions/":
		return strings.HasSuffix(base, ".sql")
	}
	return false
}
