package lsp

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// generatedScheme is that of the documents that the server makes: the SQL of one model
// or action, sternpost:/folder/of/the/project/getPost.sql.
const generatedScheme = "sternpost"

// generatedURI returns the URI of the SQL of a model, union's action or action.
func (p *project) generatedURI(name string) string {
	file := filepath.ToSlash(p.dir)
	if !strings.HasPrefix(file, "/") {
		file = "/" + file
	}
	return (&url.URL{Scheme: generatedScheme, Path: path.Join(file, name+".sql")}).String()
}

// generated answers with the text of a document that the server makes: as the project
// is now, or as it was when it compiled last.
func (s *server) generated(_ context.Context, p documentID) (*generatedDocument, error) {
	u, err := url.Parse(p.URI)
	if err != nil || u.Scheme != generatedScheme {
		return nil, refused("%q is not a document of the scheme %s", p.URI, generatedScheme)
	}
	dir, file := path.Split(u.Path)
	name := strings.TrimSuffix(file, ".sql")
	key, _, _, _ := place(uriOf(path.Join(dir, sqlgen.ConfigName)))
	c, err := s.compiledIn(key)
	if err != nil {
		return nil, err
	}
	part := partOf(c.sound, name)
	if part == nil {
		return nil, refused("the project has neither model nor action %s", name)
	}
	text := emit.Part(part)
	if !c.isNow {
		text = "-- The project has errors: this is of the version before them.\n" + text
	}
	return &generatedDocument{URI: p.URI, LanguageID: "sql", Text: text}, nil
}

// compiledIn returns the compilation of an open project that has compiled.
func (s *server) compiledIn(key string) (*compilation, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.projects, func(k *project) bool { return k.key == key })
	if i < 0 {
		s.mu.Unlock()
		return nil, refused("no file of the project in %s is open", key)
	}
	p := s.projects[i].snapshot()
	s.mu.Unlock()
	sources, err := p.sources()
	if err != nil {
		return nil, err
	}
	c := s.compile(key, sources)
	if c.sound == nil {
		return nil, refused("the project in %s has errors, so nothing is generated", key)
	}
	return c, nil
}

// partOf returns the part of a database for a model or an action, nil if there is none of
// that name.
func partOf(c *sqlgen.Compiled, name string) *pg.Database {
	part := &pg.Database{Source: c.Database.Source}
	if m := modelNamed(c, name); m != nil {
		part.Tables = []*pg.Table{c.Database.Table(m.Table)}
		for _, v := range c.Database.Views {
			if v.Table == m.Table {
				part.Views = append(part.Views, v)
			}
		}
		return part
	}
	for _, f := range c.Database.Functions {
		if strings.HasPrefix(f.Origin.Of, "action "+name+" of ") {
			part.Functions = append(part.Functions, f)
		}
	}
	if part.Functions == nil {
		return nil
	}
	return part
}

// modelNamed returns the model of a name, or nil.
func modelNamed(c *sqlgen.Compiled, name string) *model.Model {
	i := slices.IndexFunc(c.Schema.Models, func(m *model.Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return c.Schema.Models[i]
}

// implementation answers with where a thing is in SQL: an action in its file of custom
// code and in its generated functions, a model in its table, a field in its column. The
// documents that the server makes are named to editors that can ask for them.
func (v *view) implementation(p positionParams) ([]location, error) {
	found := []location{}
	name, _ := v.nameAt(p.Position)
	if name == nil {
		return found, nil
	}
	b := v.index.declarationOf(name)
	if b.action != nil {
		if l := v.codeOf(b.action); l != nil {
			found = append(found, *l)
		}
	}
	if !v.client.opensGenerated() || v.project.dir == "" || b.decl == nil {
		return found, nil
	}
	if c := v.server.compile(v.project.key, v.sources); c.sound != nil {
		of := declaredName(b.decl).Name
		if b.action != nil {
			of = b.action.Name.Name
		}
		if part := partOf(c.sound, of); part != nil {
			lines := newLines([]byte(emit.Part(part)), v.lines.units)
			found = append(found, location{v.project.generatedURI(of), lines.find(searched(c.sound, b))})
		}
	}
	return found, nil
}

// searched returns the pattern of something in the generated SQL.
func searched(c *sqlgen.Compiled, b declaration) *regexp.Regexp {
	if b.action != nil {
		return regexp.MustCompile(`(?m)^create function api\.(\S*?)\(`)
	}
	if b.field != nil {
		if _, column := columnOf(c, declaredName(b.decl).Name, b.field.Name.Name); column != nil {
			return regexp.MustCompile(`(?m)^  (` + regexp.QuoteMeta(pg.Ident(column.Name)) + `) `)
		}
	}
	return regexp.MustCompile(`(?m)^create table (\S+)`)
}

// find returns the first stretch that a group of an expression finds, the beginning if
// there is none.
func (l *lines) find(what *regexp.Regexp) textRange {
	if at := what.FindSubmatchIndex(l.text); at != nil {
		return l.textRange(at[2], at[3])
	}
	return textRange{}
}

// codeOf returns the place of an action's function in its file of custom code, nil if
// there is none.
func (v *view) codeOf(a *syntax.Action) *location {
	for _, f := range v.sources.Functions {
		if path.Base(f.Name) != a.Name.Name+".sql" {
			continue
		}
		lines := newLines(f.Text, v.lines.units)
		name := regexp.QuoteMeta(model.SnakeForm(a.Name.Name))
		return &location{v.project.uri(f.Name), lines.find(regexp.MustCompile(`(?i)\bfunctions\."?(` + name + `)\b`))}
	}
	return nil
}
