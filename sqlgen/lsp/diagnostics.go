package lsp

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkChanges checks the changed projects, after a while without changes, until ctx
// ends.
func (s *server) checkChanges(ctx context.Context) {
	settle := time.NewTimer(time.Hour)
	settle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
			settle.Reset(s.options.Quiet)
		case <-settle.C:
			for _, k := range s.takeDirty() {
				s.check(ctx, k)
			}
		}
	}
}

// takeDirty returns the changed projects, and forgets those without open documents.
func (s *server) takeDirty() []*project {
	s.mu.Lock()
	defer s.mu.Unlock()
	var dirty []*project
	for _, k := range s.projects {
		if k.isDirty {
			k.isDirty = false
			dirty = append(dirty, k)
		}
	}
	s.projects = slices.DeleteFunc(s.projects, func(k *project) bool { return len(k.documents) == 0 })
	for key := range s.compilations {
		if !slices.ContainsFunc(s.projects, func(k *project) bool { return k.key == key }) {
			delete(s.compilations, key)
		}
	}
	return dirty
}

// check compiles a project and shows its diagnostics; earlier ones that are fixed
// disappear. A bug of the compiler costs one check.
func (s *server) check(ctx context.Context, k *project) {
	defer func() {
		if bug := recover(); bug != nil {
			s.log("check %s: %v\n%s", k.key, bug, debug.Stack())
		}
	}()
	s.mu.Lock()
	p, units, withRelated := k.snapshot(), s.units, s.client.Capabilities.TextDocument.PublishDiagnostics.RelatedInformation
	s.mu.Unlock()

	r := &report{project: p, units: units, withRelated: withRelated, lines: map[*syntax.Source]*lines{}}
	for _, d := range p.documents {
		r.file(d.uri)
	}
	if len(p.documents) > 0 {
		sources, err := p.sources()
		if err != nil {
			s.log("%v", err)
		}
		for _, e := range s.compile(k.key, sources).errs {
			r.add(e)
		}
	}
	shown := k.published
	k.published = nil
	for _, f := range r.files {
		k.published = append(k.published, f.URI)
	}
	for _, uri := range shown {
		r.file(uri)
	}
	for _, f := range r.files {
		if err := s.rpc.Notify(ctx, "textDocument/publishDiagnostics", f); err != nil {
			return // the client has left
		}
	}
}

// report is the result of a check, file by file.
type report struct {
	project     *project
	units       encoding
	withRelated bool // whether the client shows notes at their own places
	lines       map[*syntax.Source]*lines
	files       []*publishParams
}

// file returns the diagnostics of a file.
func (r *report) file(uri string) *publishParams {
	for _, f := range r.files {
		if f.URI == uri {
			return f
		}
	}
	f := &publishParams{URI: uri, Diagnostics: []diagnostic{}}
	for _, d := range r.project.documents {
		if d.uri == uri {
			f.Version = &d.version
		}
	}
	r.files = append(r.files, f)
	return f
}

// add adds an error or warning. One without a place is shown where the editor is.
func (r *report) add(e *syntax.Diagnostic) {
	d := diagnostic{Severity: severityError, Code: string(e.Code), Source: "sternpost", Message: e.Message}
	if e.Warning {
		d.Severity = severityWarning
	}
	uri := r.project.documents[0].uri
	if e.Span.File != nil {
		at := r.location(e.Span)
		uri, d.Range = at.URI, at.Range
	}
	for _, n := range e.Notes {
		if n.Span.File == nil || !r.withRelated {
			d.Message += "\n" + n.Message
		} else {
			d.Related = append(d.Related, related{r.location(n.Span), n.Message})
		}
	}
	f := r.file(uri)
	f.Diagnostics = append(f.Diagnostics, d)
}

func (r *report) location(span syntax.Span) location {
	l := r.lines[span.File]
	if l == nil {
		l = newLines(span.File.Text, r.units)
		r.lines[span.File] = l
	}
	return location{r.project.uri(span.File.Name), l.textRange(span.Start.Offset, span.End.Offset)}
}
