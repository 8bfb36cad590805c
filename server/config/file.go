package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// configFile is a sternpost.yaml during reading.
type configFile struct {
	name     string // in problems
	values   map[string]given
	objects  map[string][]object // of lists of objects
	problems []error
}

// object is one of several objects.
type object struct {
	name   string // empty in a list
	place  given  // without texts
	values map[string]given
}

// FileError is a problem of a configuration file.
type FileError struct {
	File string // its name
	Line int
	Err  error
}

// Error begins with the place.
func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the problem without its place.
func (e *FileError) Unwrap() error { return e.Err }

// CheckFile finds what no server accepts of a configuration file: unknown settings, values
// that do not fit, and those that do not fit each other. It does not ask for settings that
// may come from the environment. A file without a mode is read as in development. The error
// is that of reading the file.
func CheckFile(path string) ([]*FileError, error) {
	file, problems := readFile(path)
	mode := Development
	if g, ok := file.values["mode"]; ok {
		mode = Mode(g.texts[0])
	}
	found := func(s *setting[Config]) (given, bool) {
		g, ok := file.values[s.key]
		return g, ok
	}
	var c Config
	problems = append(problems, c.set(mode, found)...)
	_, more := readProviders(file.objects["auth.providers"], mode, nil)
	problems = append(problems, more...)
	_, more = readSubscribers(file.objects["subscribers"], mode, nil)
	problems = append(problems, more...)
	if len(problems) == 0 {
		problems = file.conflicts(&c)
	}

	var list []*FileError
	for _, err := range problems {
		var inFile *FileError
		if !errors.As(err, &inFile) {
			return nil, err
		}
		list = append(list, inFile)
	}
	return list, nil
}

// conflicts finds values of the file that do not fit each other or a default.
func (f *configFile) conflicts(c *Config) []error {
	var problems []error
	for _, conflict := range c.conflicts() {
		for _, key := range conflict.keys {
			if g, ok := f.values[key]; ok {
				problems = append(problems, g.problem(conflict))
				break
			}
		}
	}
	return problems
}

// readFile reads the settings of a file by key. It works on the syntax tree, since
// problems name their line.
func readFile(path string) (*configFile, []error) {
	f := &configFile{name: filepath.Base(path), values: map[string]given{}, objects: map[string][]object{}}
	if path == "" {
		return f, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return f, []error{fmt.Errorf("read the configuration: %w", err)}
	}
	tree, err := parser.ParseBytes(content, 0)
	var unreadable yaml.Error
	if errors.As(err, &unreadable) {
		// Without its full text, which shows the lines around.
		return f, []error{&FileError{f.name, unreadable.GetToken().Position.Line, errors.New(unreadable.GetMessage())}}
	}
	if err != nil {
		return f, []error{&FileError{f.name, 1, err}}
	}
	for i, document := range tree.Docs {
		if document.Body == nil {
			continue
		}
		if i > 0 {
			f.refuse(document.Body, "", "a second YAML document begins here: put all settings into one")
			break
		}
		f.section("", document.Body)
	}
	return f, f.problems
}

func (f *configFile) refuse(n ast.Node, key, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if key != "" {
		text = key + ": " + text
	}
	f.problems = append(f.problems, &FileError{f.name, n.GetToken().Position.Line, errors.New(text)})
}

// at returns a value without texts at the place of a node.
func (f *configFile) at(n ast.Node) given {
	return given{place: f.name, line: n.GetToken().Position.Line}
}

// section reads a mapping whose keys begin with prefix.
func (f *configFile) section(prefix string, n ast.Node) {
	for _, m := range f.membersOf(n, strings.TrimSuffix(prefix, ".")) {
		key := prefix + m.Key.GetToken().Value
		switch s := findSetting(key); {
		case s != nil:
			f.setting(s, m)
		case isSection(key):
			f.section(key+".", m.Value)
		default:
			f.refuse(m, key, "unknown setting: correct the name, or remove it")
		}
	}
}

// membersOf returns the members of the mapping under a key.
func (f *configFile) membersOf(n ast.Node, key string) []*ast.MappingValueNode {
	var members []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		members = n.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{n}
	case *ast.NullNode, *ast.CommentGroupNode:
	default:
		f.refuse(n, key, "write settings here, each as name: value")
	}
	return slices.DeleteFunc(slices.Clone(members), func(m *ast.MappingValueNode) bool {
		if m.Key.IsMergeKey() {
			f.refuse(m, "", "YAML's merge key << is not supported: write the settings out")
			return true
		}
		return false
	})
}

func isSection(key string) bool {
	for i := range settings {
		if strings.HasPrefix(settings[i].key, key+".") {
			return true
		}
	}
	return false
}

// setting reads the value of one setting.
func (f *configFile) setting(s *setting[Config], m *ast.MappingValueNode) {
	if s.ofSchema {
		return
	}
	switch {
	case s.isNamed:
		for _, named := range f.membersOf(m.Value, s.key) {
			name := named.Key.GetToken().Value
			f.object(s, name, s.key+"."+name, f.at(named.Key), named.Value)
		}
		return
	case s.members != nil:
		f.list(s, m)
		return
	}
	if g, ok := f.given(s.key, s.isList, m); ok {
		f.values[s.key] = g
	}
}

// given reads a plain value, or several of a list.
func (f *configFile) given(key string, isList bool, m *ast.MappingValueNode) (given, bool) {
	elements := []ast.Node{m.Value}
	if list, ok := m.Value.(*ast.SequenceNode); ok {
		if !isList {
			f.refuse(m, key, "this setting takes one value, not a list")
			return given{}, false
		}
		elements = list.Values
	}
	g := f.at(m.Key)
	for _, n := range elements {
		t, ok := scalar(n)
		if !ok {
			f.refuse(n, key, "%s", whyNotScalar(n))
			return given{}, false
		}
		g.texts = append(g.texts, t)
	}
	return g, true
}

// list reads a list of objects.
func (f *configFile) list(s *setting[Config], m *ast.MappingValueNode) {
	list, ok := m.Value.(*ast.SequenceNode)
	if !ok {
		f.refuse(m, s.key, "this setting takes a list: begin each entry with -")
		return
	}
	for i, n := range list.Values {
		f.object(s, "", fmt.Sprintf("%s[%d]", s.key, i), f.at(n), n)
	}
}

// object reads one of several objects.
func (f *configFile) object(s *setting[Config], name, path string, place given, n ast.Node) {
	o := object{name: name, place: place, values: map[string]given{}}
	for _, m := range f.membersOf(n, path) {
		name := m.Key.GetToken().Value
		key := path + "." + name
		isList, isKnown := s.members[name]
		if !isKnown {
			f.refuse(m, key, "unknown setting: correct the name, or remove it")
		} else if g, ok := f.given(key, isList, m); ok {
			o.values[name] = g
		}
	}
	f.objects[s.key] = append(f.objects[s.key], o)
}

// scalar returns the text of a plain value. Anchors, aliases and tags are not plain.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// whyNotScalar says why scalar refuses a node, and what to write instead.
func whyNotScalar(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "the value is missing: write one, or remove the setting"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "this setting takes a value, not further settings"
	case *ast.SequenceNode:
		return "an entry of this list is a list itself: write single values"
	}
	return "write a plain value: anchors, aliases and tags of YAML are not supported"
}
