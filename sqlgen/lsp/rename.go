package lsp

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/creachadair/jrpc2"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// codeRequestFailed is the protocol's code for a valid request that cannot be fulfilled.
const codeRequestFailed jrpc2.Code = -32803

func refused(format string, args ...any) error {
	return jrpc2.Errorf(codeRequestFailed, format, args...)
}

// renamable returns the declared name at a place and its reference there, or the reason
// why it cannot be renamed there.
func (v *view) renamable(p position) (*syntax.Ident, *reference, error) {
	name, m := v.nameAt(p)
	switch {
	case name == nil:
		at := cursorAt(v.file, v.lines.offset(p))
		if at.word != "" && v.index.resolve(at) != nil {
			return nil, nil, refused("%s is built in and cannot be renamed", at.word)
		}
		return nil, nil, refused("there is no name here that could be renamed")
	case !m.spelling.isPlain():
		return nil, nil, refused("%s is called so after %s: rename that", syntax.SourceOf(m.span), name.Name)
	}
	return name, m, nil
}

func (v *view) prepareRename(p positionParams) (*renamedRange, error) {
	name, m, err := v.renamable(p.Position)
	if err != nil {
		return nil, err
	}
	return &renamedRange{v.lines.textRange(m.span.Start.Offset, m.span.End.Offset), name.Name}, nil
}

// rename answers with the edits that rename a thing in the whole project. The project
// must compile after them, and each other name must keep its meaning.
func (v *view) rename(p renameParams) (*workspaceEdit, error) {
	name, _, err := v.renamable(p.Position)
	if err != nil {
		return nil, err
	}
	if !regexp.MustCompile(`^[\pL_][\pL\pN_]*$`).MatchString(p.NewName) {
		return nil, refused("%q is not a name: a name has letters and digits only, and begins with a letter", p.NewName)
	}
	if p.NewName == name.Name {
		return &workspaceEdit{}, nil
	}
	if e := firstError(v.sources); e != nil {
		return nil, refused("the project has errors, so that a reference could be missed; mend this first: %s", e)
	}
	r := v.renaming(name, p.NewName)
	if err := r.check(v.index); err != nil {
		return nil, err
	}
	edit, err := v.edit(r)
	if err == nil && len(r.beside) > 0 {
		v.server.showMessage("%s is renamed in the schema. Look at %s by hand: the old name is there too.", name.Name, strings.Join(r.beside, ", "))
	}
	return edit, err
}

// firstError returns the first error of a project with its place, or nil.
func firstError(p *sqlgen.Project) error {
	_, errs := sqlgen.Check(p)
	for _, e := range errs {
		if !e.Warning {
			if e.Span.File == nil {
				return fmt.Errorf("%s", e.Message)
			}
			return fmt.Errorf("%s:%s: %s", e.Span.File.Name, e.Span.Start, e.Message)
		}
	}
	return nil
}

// edit replaces a stretch of a file.
type edit struct {
	start, end int
	text       string
}

// rewriting is the effect of a change on the files of a project.
type rewriting struct {
	project *sqlgen.Project
	edits   map[*syntax.Source][]edit
	moved   map[*syntax.Source]string // files that get another name
	made    []*syntax.Source          // new files of custom code
	beside  []string                  // names of files that may be concerned, and stay as they are
}

func (r *rewriting) replace(span syntax.Span, text string) {
	r.edits[span.File] = append(r.edits[span.File], edit{span.Start.Offset, span.End.Offset, text})
}

func (r *rewriting) insert(file *syntax.Source, at int, text string) {
	r.edits[file] = append(r.edits[file], edit{at, at, text})
}

// sorted returns the edits of a file in their order.
func (r *rewriting) sorted(file *syntax.Source) []edit {
	return slices.SortedStableFunc(slices.Values(r.edits[file]), func(a, b edit) int { return a.start - b.start })
}

// after returns the file after the change.
func (r *rewriting) after(file *syntax.Source) *syntax.Source {
	var b bytes.Buffer
	at := 0
	for _, e := range r.sorted(file) {
		b.Write(file.Text[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.Write(file.Text[at:])
	name := file.Name
	if to := r.moved[file]; to != "" {
		name = to
	}
	return &syntax.Source{Name: name, Text: b.Bytes()}
}

// projectAfter returns the project after the change.
func (r *rewriting) projectAfter() *sqlgen.Project {
	p := &sqlgen.Project{Config: r.project.Config}
	for _, f := range r.project.Files {
		p.Files = append(p.Files, r.after(f))
	}
	for _, f := range r.project.Functions {
		p.Functions = append(p.Functions, r.after(f))
	}
	return p
}

// renaming returns the changes that give a declared name another spelling.
func (v *view) renaming(name *syntax.Ident, to string) *rewriting {
	r := v.rewriting()
	for _, m := range v.index.referencesTo(name) {
		if text := m.spelling.renamed(name, to); text != syntax.SourceOf(m.span) {
			r.replace(m.span, text)
		}
	}
	b := v.index.declarationOf(name)
	v.index.keepArms(r, b, to)
	v.keepRows(r, b, to)
	job, isJob := b.decl.(*syntax.Job)
	switch {
	case b.action != nil:
		r.renameFunction(b.action.Name.Name, to)
	case isJob && job.Name == name:
		r.renameFunction(model.Variable(name.Name), model.Variable(to))
	}
	v.lookBeside(r, b)
	return r
}

// renameFunction gives the function of an action with custom code, or of a job, its file and its
// references in custom code the new name.
func (r *rewriting) renameFunction(from, to string) {
	old, renamed := model.SnakeForm(from), model.SnakeForm(to)
	qualified := regexp.MustCompile(`\bfunctions\.(` + regexp.QuoteMeta(old) + `)\b`)
	ownName := regexp.MustCompile(`(?:^|[^.\w])(` + regexp.QuoteMeta(old) + `)\.\w`) // before a parameter
	table := regexp.MustCompile(`\b(?:app|related)\.` + regexp.QuoteMeta(old) + `\b`)
	for _, f := range r.project.Functions {
		for _, at := range qualified.FindAllSubmatchIndex(f.Text, -1) {
			r.edits[f] = append(r.edits[f], edit{at[2], at[3], renamed})
		}
		if path.Base(f.Name) != from+".sql" {
			continue
		}
		r.moved[f] = path.Join(path.Dir(f.Name), to+".sql")
		if table.Match(f.Text) {
			continue // the name before a column is the table's
		}
		for _, at := range ownName.FindAllSubmatchIndex(f.Text, -1) {
			r.edits[f] = append(r.edits[f], edit{at[2], at[3], renamed})
		}
	}
}

// check compiles the project after a renaming, and checks that each name keeps its
// meaning.
func (r *rewriting) check(before *index) error {
	project := r.projectAfter()
	if err := firstError(project); err != nil {
		return refused("that would not compile: %v", err)
	}
	meant := func(x *index, shift func(*syntax.Source, int) int) map[string]string {
		means := map[string]string{}
		for _, m := range x.references() {
			var parts []string
			for _, name := range m.spelling.of {
				parts = append(parts, fmt.Sprint(name.Span().File.Name, shift(name.Span().File, name.Span().Start.Offset)))
			}
			means[fmt.Sprint(m.span.File.Name, ":", shift(m.span.File, m.span.Start.Offset))] = strings.Join(parts, " ")
		}
		return means
	}
	after := newIndex(project)
	stays := func(_ *syntax.Source, offset int) int { return offset }
	is := meant(after, stays)
	for at, means := range meant(before, r.shift) {
		if is[at] != means {
			file, _, _ := strings.Cut(at, ":")
			return refused("that would give another name in %s another meaning", file)
		}
	}
	return nil
}

// shift returns the new place of a place in a file.
func (r *rewriting) shift(file *syntax.Source, offset int) int {
	by := 0
	for _, e := range r.edits[file] {
		if e.end <= offset && e.start < offset || e.start == e.end && e.end == offset {
			by += len(e.text) - (e.end - e.start)
		}
	}
	return offset + by
}

// edit puts a rewriting in the form that the client reads.
func (v *view) edit(r *rewriting) (*workspaceEdit, error) {
	can := v.client.Capabilities.Workspace.WorkspaceEdit
	if len(r.moved) > 0 && (!can.DocumentChanges || !slices.Contains(can.ResourceOperations, "rename")) {
		return nil, refused("the action has a file of custom code, which has to be renamed with it, and this editor renames no files: rename both by hand")
	}
	result := &workspaceEdit{}
	if !can.DocumentChanges {
		result.Changes = map[string][]textEdit{}
	}
	for _, f := range slices.Concat(r.project.Files, r.project.Functions) {
		if len(r.edits[f]) == 0 {
			continue
		}
		lines := newLines(f.Text, v.lines.units)
		var edits []textEdit
		for _, e := range r.sorted(f) {
			edits = append(edits, textEdit{lines.textRange(e.start, e.end), e.text})
		}
		uri := v.project.uri(f.Name)
		if !can.DocumentChanges {
			result.Changes[uri] = edits
			continue
		}
		id := versionedID{URI: uri}
		if d := v.project.document(f.Name); d != nil {
			id.Version = &d.version
		}
		result.DocumentChanges = append(result.DocumentChanges, &documentEdit{id, edits})
	}
	for _, f := range r.made {
		if !can.DocumentChanges || !slices.Contains(can.ResourceOperations, "create") {
			return nil, refused("this editor makes no files: make %s by hand", f.Name)
		}
		uri := v.project.uri(f.Name)
		result.DocumentChanges = append(result.DocumentChanges, object{"kind": "create", "uri": uri},
			&documentEdit{versionedID{URI: uri}, []textEdit{{textRange{}, string(f.Text)}}})
	}
	for _, f := range r.project.Functions {
		if to := r.moved[f]; to != "" {
			result.DocumentChanges = append(result.DocumentChanges,
				object{"kind": "rename", "oldUri": v.project.uri(f.Name), "newUri": uriOf(filepath.Join(v.project.dir, filepath.FromSlash(to)))})
		}
	}
	return result, nil
}

func (s *server) showMessage(format string, args ...any) {
	if err := s.rpc.Notify(s.ctx, "window/showMessage", object{"type": messageWarning, "message": fmt.Sprintf(format, args...)}); err != nil && s.ctx.Err() == nil {
		s.log("show a message: %v", err)
	}
}
