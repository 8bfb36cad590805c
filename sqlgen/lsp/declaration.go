package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/migrate"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// declaration is what a name declares: a declaration of a file, or the part of it that is not nil.
type declaration struct {
	name   *syntax.Ident
	decl   syntax.Decl // nil if the name is not part of a declaration's own, such as a label
	field  *syntax.Field
	value  *syntax.EnumValue
	action *syntax.Action

	condition *syntax.Condition
}

// declarationOf finds what a name declares.
func (x *index) declarationOf(name *syntax.Ident) declaration {
	if name == nil {
		return declaration{}
	}
	for _, f := range x.files {
		for _, d := range f.Decls {
			of := declaration{name: name, decl: d}
			fields := syntax.FieldsOf(members(d))
			if m, isMessage := d.(*syntax.Message); isMessage {
				fields = m.Fields
			}
			for _, f := range fields {
				if f.Name == name {
					of.field = f
				}
			}
			if e, isEnum := d.(*syntax.Enum); isEnum {
				for _, v := range e.Values {
					if v.Name == name {
						of.value = v
					}
				}
			}
			for _, a := range syntax.ActionsOf(members(d)) {
				if a.Name == name {
					of.action = a
				}
			}
			for _, c := range syntax.ConditionsOf(members(d)) {
				if c.Name == name {
					of.condition = c
				}
			}
			isArm := func(a *syntax.Arm) bool { return a.Name == name }
			if of != (declaration{name: name, decl: d}) || declaredName(d) == name || slices.ContainsFunc(syntax.ArmsOf(members(d)), isArm) {
				return of
			}
		}
	}
	return declaration{name: name}
}

// keepArms adds a @set for the values that arms of unions take from a field, or give to
// one, by its name alone: they do not find it by another.
func (x *index) keepArms(r *rewriting, b declaration, to string) {
	if b.field == nil {
		return
	}
	owner := declaredName(b.decl).Name
	for _, d := range x.types {
		u, ok := d.(*syntax.Union)
		if !ok {
			continue
		}
		for _, arm := range syntax.ArmsOf(u.Members) {
			var sets strings.Builder
			for _, f := range syntax.FieldsOf(u.Members) {
				source := named(x.fields(arm.Model.Name), f.Name.Name)
				if source == nil || source.column == "" || setsField(arm, f.Name.Name) {
					continue
				}
				target, value := f.Name.Name, f.Name.Name
				switch {
				case b.decl == d && f.Name == b.name:
					target = to
				case owner == arm.Model.Name && source.spelling.has(b.name):
					value = source.spelling.renamed(b.name, to)
				default:
					continue
				}
				sets.WriteString(" @set(" + model.Variable(u.Name.Name) + "." + target + " = " + model.Variable(arm.Model.Name) + "." + value + ")")
			}
			r.addAttribute(arm.Model.Span(), arm.Attrs, sets.String())
		}
	}
}

// setsField tells whether an arm gives a field of its union a value by @set.
func setsField(arm *syntax.Arm, name string) bool {
	return slices.ContainsFunc(arm.Attrs, func(a *syntax.Attribute) bool {
		return a.Name.Name == "set" && len(a.Args) == 1 && a.Args[0].Target != nil &&
			len(a.Args[0].Target.Steps) == 2 && a.Args[0].Target.Steps[1].Name == name
	})
}

// addAttribute writes an attribute, with a space before it, behind the last name or mark
// of its declaration, or inside of the braces around the other attributes.
func (r *rewriting) addAttribute(behind syntax.Span, attrs []*syntax.Attribute, text string) {
	if text == "" {
		return
	}
	at := behind.End.Offset
	if len(attrs) > 0 {
		between := behind.File.Text[at:attrs[0].Span().Start.Offset]
		if brace := slices.Index(between, '{'); brace >= 0 {
			at += brace + 1
			if inside := string(between[brace+1:]); strings.Contains(inside, "\n") { // each on its line
				text = inside[strings.LastIndexByte(inside, '\n'):] + strings.TrimSpace(text)
			}
		}
	}
	r.insert(behind.File, at, text)
}

// keepRows writes the marker that makes a migration rename a table, column or value, not
// drop it and add another, where a database may have it already.
func (v *view) keepRows(r *rewriting, b declaration, to string) {
	var attrs []*syntax.Attribute
	var behind syntax.Span
	switch d := b.decl.(type) {
	case *syntax.Model:
		switch {
		case b.field != nil:
			if !v.index.isStored(d.Name.Name, b.field) {
				return
			}
			attrs, behind = b.field.Attrs, fieldHead(b.field)
		case b.action != nil, b.condition != nil:
			return
		default:
			attrs, behind = syntax.AttributesOf(d.Members), openingBrace(d)
		}
	case *syntax.Enum:
		if b.value == nil {
			return
		}
		attrs, behind = b.value.Attrs, b.value.Name.Span()
	default:
		return
	}
	known := v.installed(b)
	marker := attribute(attrs, "renamed")
	switch {
	case marker == nil && known(b.name.Name):
		text := " @renamed(from: " + b.name.Name + ")"
		if model, isModel := b.decl.(*syntax.Model); isModel && b.field == nil {
			r.insert(behind.File, behind.End.Offset, modelMarker(model, behind, text))
		} else {
			r.addAttribute(behind, attrs, text)
		}
	case marker == nil, len(marker.Args) != 1:
	default:
		from := marker.Args[0].Value
		switch {
		case known(b.name.Name):
			r.replace(from.Span(), b.name.Name)
		case syntax.SourceOf(from.Span()) == to:
			r.remove(marker.Span())
		}
	}
}

// remove takes a stretch away, with the white space before it.
func (r *rewriting) remove(span syntax.Span) {
	start := span.Start.Offset
	for start > 0 && strings.IndexByte(" \t\n", span.File.Text[start-1]) >= 0 {
		start--
	}
	r.edits[span.File] = append(r.edits[span.File], edit{start, span.End.Offset, ""})
}

// fieldHead returns a field without its attributes.
func fieldHead(f *syntax.Field) syntax.Span {
	span := f.Type.Span()
	if f.Array != nil {
		span.End = f.Array.Span().End
	}
	if f.Optional != nil {
		span.End = f.Optional.Span().End
	}
	return span
}

// openingBrace returns the brace of a model.
func openingBrace(d *syntax.Model) syntax.Span {
	file := d.Span().File
	at := d.Name.Span().End.Offset
	at += slices.Index(file.Text[at:d.Span().End.Offset], '{')
	return spanOf(file, at, at+1)
}

// modelMarker is a marker as the first member of a model: on a line of its own, unless the
// model begins on the line of its name.
func modelMarker(d *syntax.Model, brace syntax.Span, text string) string {
	rest := brace.File.Text[brace.End.Offset:]
	line, _, _ := strings.Cut(string(rest), "\n")
	if strings.TrimSpace(line) == "" {
		return "\n " + text
	}
	return text
}

// isStored tells whether a field of a model, or its key, has a column.
func (x *index) isStored(model string, f *syntax.Field) bool {
	return slices.ContainsFunc(x.fields(model), func(has *symbol) bool { return has.column != "" && has.spelling.has(f.Name) })
}

// installed returns a function that tells whether a database may have the table, column or
// value of a declaration by a name: from the snapshot of the migrations, or, for a project that
// has been served in development, from the current schema.
func (v *view) installed(b declaration) func(name string) bool {
	if v.project.dir == "" {
		return func(string) bool { return false }
	}
	_, err := os.Stat(filepath.Join(v.project.dir, ".sternpost", "postgres"))
	served := err == nil
	kept, err := migrate.Described(filepath.Join(v.project.dir, migrate.DirName))
	return func(name string) bool {
		switch {
		case served && name == b.name.Name, err != nil:
			return true
		case kept == nil:
			return false
		case b.value != nil:
			return hasValue(kept, name)
		case b.field == nil:
			return kept.Table(model.SnakeForm(name)) != nil
		}
		t := kept.Table(model.SnakeForm(declaredName(b.decl).Name))
		if m, isModel := b.decl.(*syntax.Model); t == nil && isModel { // its own renaming may not be migrated yet
			if marker := attribute(syntax.AttributesOf(m.Members), "renamed"); marker != nil && len(marker.Args) == 1 {
				t = kept.Table(model.SnakeForm(syntax.SourceOf(marker.Args[0].Value.Span())))
			}
		}
		return t != nil && (t.Column(model.SnakeForm(name)) != nil || t.Column(model.SnakeForm(name+"Id")) != nil)
	}
}

// hasValue tells whether some column may hold a value.
func hasValue(db *pg.Database, value string) bool {
	for _, t := range db.Tables {
		for _, c := range t.Columns {
			if slices.Contains(c.Values, value) {
				return true
			}
		}
	}
	return false
}

// lookBeside notes the files of custom code and seeds that have the old name as a word: the
// compiler does not read them.
func (v *view) lookBeside(r *rewriting, b declaration) {
	if b.condition != nil {
		return
	}
	name := b.name.Name
	forms := []string{name}
	switch b.decl.(type) {
	case *syntax.Model:
		if b.action == nil {
			forms = append(forms, model.SnakeForm(name))
		}
		if b.field != nil && v.index.isModel(b.field.Type.Name) {
			forms = append(forms, name+"Id", model.SnakeForm(name+"Id"))
		}
	case *syntax.Job:
		if b.field == nil {
			forms = []string{model.Variable(name)}
		}
		forms = append(forms, model.SnakeForm(model.Variable(name)))
	case *syntax.Message, *syntax.Enum:
		if b.field == nil && b.value == nil {
			return // its own name is the schema's alone
		}
	case nil: // a parameter of custom code
		forms = append(forms, model.SnakeForm(name))
	default:
		return
	}
	for i, form := range forms {
		forms[i] = regexp.QuoteMeta(form)
	}
	word := regexp.MustCompile(`\b(?:` + strings.Join(forms, "|") + `)\b`)
	for _, f := range v.sources.Functions {
		if word.Match(f.Text) {
			r.beside = append(r.beside, f.Name)
		}
	}
	if v.project.dir == "" {
		return
	}
	seeds, _ := filepath.Glob(filepath.Join(v.project.dir, "seed", "*"))
	for _, seed := range seeds {
		if text, err := os.ReadFile(seed); err == nil && word.Match(text) {
			r.beside = append(r.beside, "seed/"+filepath.Base(seed))
		}
	}
}
