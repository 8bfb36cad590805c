package lsp

import (
	"bytes"
	"fmt"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// view is the basis of an answer: a document and the project around it.
type view struct {
	server  *server
	client  initializeParams
	project *project
	sources *sqlgen.Project
	index   *index
	file    *syntax.File
	lines   *lines // of the document
}

// view returns the document with a URI as it is now, nil if it is not open or not a
// schema file.
func (s *server) view(uri string) *view {
	s.mu.Lock()
	k, d := s.find(uri)
	if d == nil {
		s.mu.Unlock()
		return nil
	}
	p, client, units := k.snapshot(), s.client, s.units
	s.mu.Unlock()

	sources, err := p.sources()
	if err != nil {
		s.log("%v", err)
	}
	x := newIndex(sources)
	file := x.file(d.name)
	if file == nil {
		return nil // the configuration
	}
	return &view{server: s, client: client, project: p, sources: sources, index: x, file: file, lines: newLines(file.Source.Text, units)}
}

// symbolAt returns the place at a position and the meaning of the word there, nil if
// that is not known.
func (v *view) symbolAt(p position) (*cursor, *symbol) {
	at := cursorAt(v.file, v.lines.offset(p))
	return at, v.index.resolve(at)
}

// location returns the place of a span in any of the project's files.
func (v *view) location(span syntax.Span) location {
	l := newLines(span.File.Text, v.lines.units)
	return location{v.project.uri(span.File.Name), l.textRange(span.Start.Offset, span.End.Offset)}
}

func fenced(code string) string { return "```stern\n" + code + "\n```" }

func (v *view) hover(p positionParams) (*hover, error) {
	at, y := v.symbolAt(p.Position)
	if y == nil {
		return nil, nil
	}
	text := y.doc
	if y.detail != "" {
		text = paragraphs(fenced(y.detail), y.doc)
	}
	if text == "" {
		return nil, nil
	}
	return &hover{markup{"markdown", text}, v.lines.textRange(at.start, at.end)}, nil
}

func (v *view) definition(p positionParams) (*location, error) {
	at, y := v.symbolAt(p.Position)
	if y == nil || y.span.File == nil {
		return nil, nil
	}
	if a := v.index.declarationOf(y.spelling.name()).action; a != nil && y.span.File == v.file.Source && y.span.Start.Offset == at.start {
		if code := v.codeOf(a); code != nil {
			return code, nil // from an action to its code
		}
	}
	l := v.location(y.span)
	return &l, nil
}

// completion answers with all names that are possible; the editor keeps those that
// begin like the word.
func (v *view) completion(p positionParams) ([]completionItem, error) {
	items := []completionItem{}
	offset := v.lines.offset(p.Position)
	at := cursorAt(v.file, offset)
	for i, y := range v.index.offers(at) {
		item := completionItem{
			Label:    y.name,
			Kind:     classes[y.class].completion,
			Detail:   y.detail,
			SortText: fmt.Sprintf("%04d", i),
			TextEdit: textEdit{v.lines.textRange(at.start, offset), y.name},
		}
		if y.insert != "" {
			item.TextEdit.NewText = y.insert
		}
		if y.class == classAttribute {
			item.Label = item.TextEdit.NewText
		}
		if y.doc != "" {
			item.Documentation = &markup{"markdown", y.doc}
		}
		items = append(items, item)
	}
	return items, nil
}

// formatting answers with one edit of the lines that change. A file that does
// not parse stays as it is.
func (v *view) formatting(p documentParams) ([]textEdit, error) {
	before, after := v.file.Source.Text, syntax.Format(v.file)
	if bytes.Equal(before, after) {
		return []textEdit{}, nil
	}
	start := 0 // of the first line that differs
	for i := 0; i < len(before) && i < len(after) && before[i] == after[i]; i++ {
		if before[i] == '\n' {
			start = i + 1
		}
	}
	same := 0 // at the end, whole lines
	for i := 1; i <= len(before)-start && i <= len(after)-start && before[len(before)-i] == after[len(after)-i]; i++ {
		if i == len(before)-start || before[len(before)-i-1] == '\n' {
			if i == len(after)-start || after[len(after)-i-1] == '\n' {
				same = i
			}
		}
	}
	return []textEdit{{v.lines.textRange(start, len(before)-same), string(after[start : len(after)-same])}}, nil
}

func (v *view) documentSymbols(documentParams) ([]documentSymbol, error) {
	return append([]documentSymbol{}, v.symbols()...), nil
}

// symbols returns what a file declares.
func (v *view) symbols() []documentSymbol {
	var symbols []documentSymbol
	for _, d := range v.file.Decls {
		name, keyword, _ := declared(d)
		if name == nil {
			continue
		}
		children := v.memberSymbols(members(d))
		switch d := d.(type) {
		case *syntax.Message:
			children = v.fieldSymbols(d.Fields)
		case *syntax.Enum:
			for _, value := range d.Values {
				children = append(children, v.symbol(value.Name, classEnumValue, "", value, nil))
			}
		}
		symbols = append(symbols, v.symbol(name, declarationClasses[keyword], keyword, d, children))
	}
	return symbols
}

func (v *view) symbol(name *syntax.Ident, c class, detail string, whole syntax.Node, children []documentSymbol) documentSymbol {
	span, nameSpan := whole.Span(), name.Span()
	return documentSymbol{
		Name:           name.Name,
		Detail:         detail,
		Kind:           classes[c].symbol,
		Range:          v.lines.textRange(span.Start.Offset, span.End.Offset),
		SelectionRange: v.lines.textRange(nameSpan.Start.Offset, nameSpan.End.Offset),
		Children:       children,
	}
}

// memberSymbols returns the symbols of fields, conditions, arms and actions, in source order.
func (v *view) memberSymbols(members []syntax.Member) []documentSymbol {
	var symbols []documentSymbol
	for _, m := range members {
		switch m := m.(type) {
		case *syntax.FieldsBlock:
			symbols = append(symbols, v.fieldSymbols(m.Fields)...)
		case *syntax.ConditionsBlock:
			for _, d := range m.Conditions {
				symbols = append(symbols, v.symbol(d.Name, classField, "", d, nil))
			}
		case *syntax.ArmsBlock:
			for _, a := range m.Arms {
				symbols = append(symbols, v.symbol(a.Name, classArm, a.Model.Name, a, nil))
			}
		case *syntax.ActionsBlock:
			for _, a := range m.Actions {
				symbols = append(symbols, v.symbol(a.Name, classAction, a.Kind.Name, a, nil))
			}
		}
	}
	return symbols
}

func (v *view) fieldSymbols(fields []*syntax.Field) []documentSymbol {
	var symbols []documentSymbol
	for _, f := range fields {
		symbols = append(symbols, v.symbol(f.Name, classField, typeText(f.Type.Name, f.Array != nil, f.Optional != nil), f, nil))
	}
	return symbols
}
