package lsp

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// document is a file that is open in the editor. A change makes a new one.
type document struct {
	uri     string
	name    string // within its project
	version int
	text    []byte
}

// project is a project that has an open document.
type project struct {
	key       string // its folder, or the URI of a document that is not a file yet
	dir       string // "" means that there is none
	documents []*document
	isDirty   bool     // whether it changed since it was last checked
	published []string // where diagnostics are shown; only check touches it
}

// place returns the folder of a document's project and its name there; ok is false if
// the language has no such files. A document that is not a file is a project by itself,
// with its URI as key.
func place(uri string) (key, dir, name string, ok bool) {
	file, isFile := pathOf(uri)
	if !isFile {
		return uri, "", uri, true
	}
	dir, name = filepath.Split(file)
	dir = filepath.Clean(dir)
	if filepath.Base(dir) == "schemas" && name != sqlgen.ConfigName {
		// The folder may also be a project that happens to be called schemas.
		if _, err := os.Stat(filepath.Join(dir, sqlgen.ConfigName)); err != nil {
			dir, name = filepath.Dir(dir), "schemas/"+name
		}
	}
	return dir, dir, name, sqlgen.IsInput(name)
}

// pathOf returns the path of the file that a URI names.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // /c:/folder
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// uri returns the URI of one of the project's files: for a document, the editor's own
// URI.
func (p *project) uri(name string) string {
	if d := p.document(name); d != nil {
		return d.uri
	}
	return uriOf(filepath.Join(p.dir, filepath.FromSlash(name)))
}

// document returns the open document of that name, or nil.
func (p *project) document(name string) *document {
	i := slices.IndexFunc(p.documents, func(d *document) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return p.documents[i]
}

// snapshot returns the project as it is now, for work that takes a while.
func (p *project) snapshot() *project {
	return &project{key: p.key, dir: p.dir, documents: slices.Clone(p.documents)}
}

// sources reads the project: open documents go before files on disk. If a folder cannot
// be read, the open documents are all there is.
func (p *project) sources() (*sqlgen.Project, error) {
	read, err := &sqlgen.Project{}, error(nil)
	if p.dir != "" {
		onDisk, readErr := sqlgen.ReadProject(p.dir)
		switch {
		case readErr == nil:
			read = onDisk
		case !errors.Is(readErr, fs.ErrNotExist):
			err = readErr
		}
	}
	for _, d := range p.documents {
		source := &syntax.Source{Name: d.name, Text: d.text}
		if d.name == sqlgen.ConfigName {
			read.Config = source
			continue
		}
		i, found := slices.BinarySearchFunc(read.Files, d.name, func(f *syntax.Source, name string) int {
			return strings.Compare(f.Name, name)
		})
		if found {
			read.Files[i] = source
		} else {
			read.Files = slices.Insert(read.Files, i, source)
		}
	}
	return read, err
}

// change returns the document after changes. Each is made to what the
// one before left.
func (d *document) change(version int, changes []contentChange, units encoding) *document {
	text := d.text
	for _, c := range changes {
		if c.Range == nil {
			text = []byte(c.Text)
			continue
		}
		l := newLines(text, units)
		start, end := l.offset(c.Range.Start), l.offset(c.Range.End)
		text = slices.Concat(text[:start], []byte(c.Text), text[max(start, end):])
	}
	return &document{uri: d.uri, name: d.name, version: version, text: text}
}
