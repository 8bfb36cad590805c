package lsp

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// remedy is a change that fixes a diagnostic.
type remedy struct {
	title     string
	preferred bool
	change    *rewriting
}

// codeActions answers with the remedies for the diagnostics in a range.
func (v *view) codeActions(p codeActionParams) ([]codeAction, error) {
	actions := []codeAction{}
	if len(p.Context.Only) > 0 && !slices.Contains(p.Context.Only, "quickfix") {
		return actions, nil
	}
	start, end := v.lines.offset(p.Range.Start), v.lines.offset(p.Range.End)
	for _, d := range v.server.compile(v.project.key, v.sources).errs {
		if d.Span.File == nil || d.Span.File.Name != v.file.Source.Name || d.Span.End.Offset < start || d.Span.Start.Offset > end {
			continue
		}
		for _, r := range v.remedies(d) {
			edit, err := v.edit(r.change)
			if err != nil {
				continue // not by this editor
			}
			a := codeAction{Title: r.title, Kind: "quickfix", IsPreferred: r.preferred, Edit: edit}
			at := v.lines.textRange(d.Span.Start.Offset, d.Span.End.Offset)
			for _, shown := range p.Context.Diagnostics {
				if shown.Code == string(d.Code) && shown.Range == at {
					a.Diagnostics = append(a.Diagnostics, shown)
				}
			}
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// remedies returns the remedies for a diagnostic.
func (v *view) remedies(d *syntax.Diagnostic) []remedy {
	var list []remedy
	if r, found := v.suggested(d); found {
		list = append(list, r)
	}
	switch d.Code {
	case check.NoRule:
		list = append(list, v.missingRule(d)...)
	case check.FunctionFileMissing:
		list = append(list, v.missingFile(d)...)
	}
	if d.Warning && warningWords.has(string(d.Code)) {
		list = append(list, v.allowed(d)...)
	}
	return list
}

func (v *view) rewriting() *rewriting {
	return &rewriting{project: v.sources, edits: map[*syntax.Source][]edit{}, moved: map[*syntax.Source]string{}}
}

// suggested replaces the written name with the meant one, if that fixes the error.
func (v *view) suggested(d *syntax.Diagnostic) (remedy, bool) {
	meant := d.Meant()
	at := d.Span.Start.Offset
	if meant != "" && at > 0 && d.Span.File.Text[at-1] == '@' {
		meant = strings.TrimPrefix(meant, "@") // it is there
	}
	if meant == "" {
		return remedy{}, false
	}
	r := v.rewriting()
	r.edits[v.file.Source] = []edit{{at, d.Span.End.Offset, meant}}
	_, errs := sqlgen.Check(r.projectAfter())
	still := slices.ContainsFunc(errs, func(e *syntax.Diagnostic) bool {
		return e.Code == d.Code && e.Span.File != nil && e.Span.File.Name == d.Span.File.Name && e.Span.Start == d.Span.Start
	})
	return remedy{"Write " + meant, true, r}, !still
}

// actionOf returns the action around a place in the file, with its declaration.
func (v *view) actionOf(offset int) (*syntax.Action, syntax.Decl) {
	for _, d := range v.file.Decls {
		for _, a := range syntax.ActionsOf(members(d)) {
			if span := a.Span(); span.Start.Offset <= offset && offset <= span.End.Offset {
				return a, d
			}
		}
	}
	return nil, nil
}

// missingRule adds a rule for an action that none covers.
func (v *view) missingRule(d *syntax.Diagnostic) []remedy {
	a, owner := v.actionOf(d.Span.Start.Offset)
	if a == nil {
		return nil
	}
	signedIn := v.rewriting()
	signedIn.addMember(owner, "@permission(expression: ctx.isAuthenticated, actions: ["+a.Kind.Name+"])")
	list := []remedy{{"Add a rule to " + declaredName(owner).Name + ": who is signed in may " + a.Kind.Name, true, signedIn}}
	for _, rule := range []struct{ title, expression string }{
		{"Add a rule to " + a.Name.Name + ": who is signed in may call it", "ctx.isAuthenticated"},
		{"Add a rule to " + a.Name.Name + ": everyone may call it", "true"},
	} {
		r := v.rewriting()
		r.addAttribute(actionHead(a), a.Attrs, " @permission(expression: "+rule.expression+")")
		list = append(list, remedy{rule.title, false, r})
	}
	return list
}

// actionHead returns an action without its attributes.
func actionHead(a *syntax.Action) syntax.Span {
	span := a.Reads.Span()
	for _, in := range []*syntax.Inputs{a.With, a.Returns} {
		if in != nil {
			span = in.Span()
		}
	}
	return span
}

// addMember writes a member at the end of a model or union.
func (r *rewriting) addMember(d syntax.Decl, text string) {
	file, at := d.Span().File, d.Span().End.Offset-1 // the brace
	line := strings.LastIndexByte(string(file.Text[:at]), '\n') + 1
	if strings.TrimSpace(string(file.Text[line:at])) == "" {
		r.insert(file, line, "  "+text+"\n")
		return
	}
	r.insert(file, at, text+" ")
}

// missingFile makes the file of custom code that an action lacks.
func (v *view) missingFile(d *syntax.Diagnostic) []remedy {
	if v.project.dir == "" {
		return nil
	}
	name := "functions/" + syntax.SourceOf(d.Span) + ".sql"
	for _, f := range sqlgen.Scaffold(v.sources) {
		if f.Name == name {
			r := v.rewriting()
			r.made = []*syntax.Source{f}
			return []remedy{{"Make " + name, true, r}}
		}
	}
	return nil
}

// allowed adds an @allow for a warning about an action.
func (v *view) allowed(d *syntax.Diagnostic) []remedy {
	a, _ := v.actionOf(d.Span.Start.Offset)
	if a == nil {
		return nil
	}
	r := v.rewriting()
	if allow := attribute(a.Attrs, "allow"); allow != nil && len(allow.Args) > 0 {
		last := allow.Args[len(allow.Args)-1].Span()
		r.insert(last.File, last.End.Offset, ", "+string(d.Code))
	} else {
		r.addAttribute(actionHead(a), a.Attrs, " @allow("+string(d.Code)+")")
	}
	return []remedy{{"Say that it is meant: @allow(" + string(d.Code) + ")", false, r}}
}
