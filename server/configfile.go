package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// configFile is a sternpost.yaml while it is read.
type configFile struct {
	name     string // as problems show it
	values   map[string]given
	problems []error
}

// readFile reads the settings of a file by key. It works on the syntax tree, since
// problems name their line.
func readFile(path string) (map[string]given, []error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, []error{fmt.Errorf("read the configuration: %w", err)}
	}
	f := &configFile{name: filepath.Base(path), values: map[string]given{}}
	tree, err := parser.ParseBytes(content, 0)
	var unreadable yaml.Error
	if errors.As(err, &unreadable) {
		// Not its full text, which shows the lines around.
		return nil, []error{fmt.Errorf("%s:%d: %s", f.name, unreadable.GetToken().Position.Line, unreadable.GetMessage())}
	}
	if err != nil {
		return nil, []error{fmt.Errorf("%s: %w", f.name, err)}
	}
	for i, document := range tree.Docs {
		if document.Body == nil {
			continue
		}
		if i > 0 {
			f.refuse(document.Body, "", "holds a second document")
			break
		}
		f.section("", document.Body)
	}
	return f.values, f.problems
}

func (f *configFile) refuse(n ast.Node, key, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if key != "" {
		text = key + ": " + text
	}
	f.problems = append(f.problems, fmt.Errorf("%s: %s", f.place(n), text))
}

func (f *configFile) place(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, n.GetToken().Position.Line)
}

// section reads a mapping whose keys begin with prefix.
func (f *configFile) section(prefix string, n ast.Node) {
	var members []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		members = n.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{n}
	case *ast.NullNode, *ast.CommentGroupNode:
		return
	default:
		f.refuse(n, strings.TrimSuffix(prefix, "."), "holds no settings")
		return
	}

	for _, m := range members {
		if m.Key.IsMergeKey() {
			f.refuse(m, "", "merge keys are not supported")
			continue
		}
		key := prefix + m.Key.GetToken().Value
		switch s := findSetting(key); {
		case s != nil:
			f.setting(s, m)
		case isSection(key):
			f.section(key+".", m.Value)
		default:
			f.refuse(m, key, "there is no such setting")
		}
	}
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
func (f *configFile) setting(s *setting, m *ast.MappingValueNode) {
	if s.use == ofSchema {
		return
	}
	elements := []ast.Node{m.Value}
	if list, isList := m.Value.(*ast.SequenceNode); isList {
		if !s.isList {
			f.refuse(m, s.key, "is not a list")
			return
		}
		elements = list.Values
	}
	if s.read == nil { // a list of objects, none of which has effect yet
		if len(elements) > 0 {
			f.refuse(m, s.key, "is not supported yet")
		}
		return
	}

	g := given{place: f.place(m.Key)}
	for _, n := range elements {
		t, ok := scalar(n)
		if !ok {
			f.refuse(n, s.key, "has no plain value")
			return
		}
		g.texts = append(g.texts, t)
	}
	f.values[s.key] = g
}

// scalar returns the text of a plain value. Anchors, aliases and tags are none.
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
