package sqlgen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// ConfigName is the name of a project's configuration file.
const ConfigName = "sternpost.yaml"

// Project is the input of a compilation.
type Project struct {
	Files     []*syntax.Source // schema files, by name
	Config    *syntax.Source   // nil means the project has none
	Functions []*syntax.Source // files of custom code, by name, which is the order in which they run
	Mails     []string         // those that code may send, which have templates: by name
}

// CheckDir returns an error unless the folder exists.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}

// ReadProject reads the project in a folder: the *.stern and *.keel files there
// and in its folder schemas, sternpost.yaml, functions/*.sql, and the names of mail/*.txt. A
// folder without schema files is a project without schema, which is for Compile to report.
func ReadProject(dir string) (*Project, error) {
	if err := CheckDir(dir); err != nil {
		return nil, fmt.Errorf("read project: %w", err)
	}
	root := os.DirFS(dir)
	p := &Project{}
	for _, folder := range []string{".", "schemas"} {
		for _, pattern := range []string{"*.stern", "*.keel"} {
			files, err := readFiles(root, path.Join(folder, pattern))
			if err != nil {
				return nil, fmt.Errorf("read schema: %w", err)
			}
			p.Files = append(p.Files, files...)
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

	if p.Functions, err = readFiles(root, "functions/*.sql"); err != nil {
		return nil, fmt.Errorf("read custom code: %w", err)
	}
	templates, err := fs.Glob(root, "mail/*.txt")
	if err != nil {
		return nil, fmt.Errorf("read the templates of mails: %w", err)
	}
	for _, file := range templates {
		if name := mail.NameOf(path.Base(file)); name != "" && !mail.IsOfAccounts(name) && !slices.Contains(p.Mails, name) {
			p.Mails = append(p.Mails, name)
		}
	}
	slices.Sort(p.Mails)
	return p, nil
}

// readFiles reads the files whose names match a pattern, in the order of the names.
func readFiles(root fs.FS, pattern string) ([]*syntax.Source, error) {
	names, err := fs.Glob(root, pattern)
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var files []*syntax.Source
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		files = append(files, &syntax.Source{Name: name, Text: text})
	}
	return files, nil
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
	case "mail/":
		return strings.HasSuffix(base, ".txt")
	}
	return false
}
