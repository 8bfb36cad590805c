package check

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestOrderMeansNothing shuffles the declarations of every case over files, with the help of the
// parser. The checked schema and the diagnostics stay the same.
func TestOrderMeansNothing(t *testing.T) {
	t.Parallel()
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := projectOf(archive)
		s, errs := p.check()
		if slices.ContainsFunc(errs, dependsOnOrder) {
			continue
		}
		wantSchema, wantCodes := sortedDump(s), codesSeen(errs)
		for seed := range uint64(5) {
			shuffled := p.shuffle(rand.New(rand.NewPCG(seed, 1)))
			s, errs := shuffled.check()
			if got := sortedDump(s); got != wantSchema {
				t.Errorf("%s, seed %d: schema differs:\ngot:\n%s\nwant:\n%s", path, seed, got, wantSchema)
			}
			if got := codesSeen(errs); got != wantCodes {
				t.Errorf("%s, seed %d: got codes %s, want %s", path, seed, got, wantCodes)
			}
		}
	}
}

// dependsOnOrder tells whether a mistake means that one of two declarations is
// looked into and the other is not.
func dependsOnOrder(d *syntax.Diagnostic) bool {
	switch d.Code {
	case DuplicateType, DuplicateAction, DuplicateRole, NameClash, NoSchema, "Syntax":
		return true
	}
	return false
}

// shuffle deals the declarations of a project to three files in random order.
func (p project) shuffle(r *rand.Rand) project {
	var decls []string
	for _, src := range p.sources {
		var errs syntax.Errors
		file := syntax.Parse(src, &errs)
		start := 0
		for _, d := range file.Decls {
			end := d.Span().End.Offset
			decls = append(decls, string(src.Text[start:end]))
			start = end
		}
	}
	r.Shuffle(len(decls), func(i, j int) { decls[i], decls[j] = decls[j], decls[i] })
	texts := make([]strings.Builder, 3)
	for _, d := range decls {
		texts[r.IntN(3)].WriteString(d + "\n")
	}
	shuffled := project{config: p.config, functions: p.functions}
	for i := range texts {
		name := fmt.Sprintf("%d.stern", i)
		shuffled.sources = append(shuffled.sources, &syntax.Source{Name: name, Text: []byte(texts[i].String())})
	}
	return shuffled
}

// sortedDump returns the lines of a dump, sorted; "" for no schema.
func sortedDump(s *model.Schema) string {
	if s == nil {
		return ""
	}
	lines := strings.Split(Dump(s), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// codesSeen returns the codes of diagnostics, sorted.
func codesSeen(errs syntax.Errors) string {
	var codes []string
	for _, d := range errs {
		codes = append(codes, string(d.Code))
	}
	slices.Sort(codes)
	return strings.Join(codes, " ")
}

// largeProject returns a project of n models, each related to the one before it,
// with actions of all built-in kinds.
func largeProject(n int) project {
	var b strings.Builder
	for i := range n {
		before := (i + n - 1) % n
		fmt.Fprintf(&b, `
model Model%[1]d {
  fields {
    name Text @unique
    state State%[1]d @default(State%[1]d.On)
    before Model%[2]d? @relation(after)
    after Model%[3]d[]
    owner Identity
    size Number @default
    at Timestamp?
  }
  actions {
    get get%[1]d(id) { @embed(before) }
    list list%[1]d(name?, before.name?, after.size?, since: Timestamp?) {
      @where(model%[1]d.at >= since)
      @orderBy(name: asc)
    }
    create create%[1]d() with (name, before.id?, after.name) {
      @set(model%[1]d.owner = ctx.identity)
      @set(model%[1]d.after.owner = ctx.identity)
    }
    update update%[1]d(name) with (name?, size?) { @validate(size > 0) }
    delete delete%[1]d(id) { @where(model%[1]d.owner == ctx.identity) }
  }
  @index(owner, at)
  @permission(expression: model%[1]d.owner == ctx.identity || model%[1]d.before.owner == ctx.identity, actions: [get, list, create, update, delete])
}
enum State%[1]d { On Off }
`, i, before, (i+1)%n)
	}
	return project{sources: []*syntax.Source{{Name: "large.stern", Text: []byte(b.String())}}}
}

// TestLargeProject checks that the project of the benchmark is a good one.
func TestLargeProject(t *testing.T) {
	t.Parallel()
	s, errs := largeProject(100).check()
	if errs.HasErrors() {
		t.Fatalf("got errors:\n%s", show(errs[:min(len(errs), 5)]))
	}
	if got, want := len(s.Actions), 500; got != want {
		t.Errorf("got %d actions, want %d", got, want)
	}
}

// BenchmarkCheck checks 100 models with 500 actions.
func BenchmarkCheck(b *testing.B) {
	p := largeProject(100)
	var errs syntax.Errors
	file := syntax.Parse(p.sources[0], &errs)
	for b.Loop() {
		var errs syntax.Errors
		if Check([]*syntax.File{file}, Options{}, &errs) == nil {
			b.Fatal(show(errs))
		}
	}
}

// FuzzCheck checks any text, even with syntax errors. The checker must not panic. It must return a
// schema exactly if there is no error, and the same result twice.
func FuzzCheck(f *testing.F) {
	for _, path := range cases(f) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, src := range projectOf(archive).sources {
			f.Add(src.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := project{sources: []*syntax.Source{{Name: "fuzz.stern", Text: text}}, functions: []string{"a.sql", "b.sql"}}
		s, errs := p.check()
		if (s == nil) != errs.HasErrors() {
			t.Errorf("schema is nil: %t, but errors: %t\n%s", s == nil, errs.HasErrors(), show(errs))
		}
		again, errsAgain := p.check()
		if show(errs) != show(errsAgain) {
			t.Errorf("first:\n%s\nthen:\n%s", show(errs), show(errsAgain))
		}
		if s != nil && Dump(s) != Dump(again) {
			t.Errorf("first:\n%s\nthen:\n%s", Dump(s), Dump(again))
		}
		for _, d := range errs {
			if d.Message == "" || d.Code == "" {
				t.Errorf("a diagnostic says nothing: %+v", d)
			}
		}
	})
}

// FuzzReadConfig reads any text as a configuration.
func FuzzReadConfig(f *testing.F) {
	for _, path := range cases(f) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if config := projectOf(archive).config; config != nil {
			f.Add(config.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var errs syntax.Errors
		config := ReadConfig(&syntax.Source{Name: "sternpost.yaml", Text: text}, &errs)
		if config == nil {
			t.Fatal("no configuration")
		}
		for _, d := range errs {
			if d.Span.Start.Offset > len(text) || d.Span.End.Offset > len(text) || d.Span.End.Offset < d.Span.Start.Offset {
				t.Errorf("%q: place out of the file: %+v", d.Message, d.Span)
			}
		}
	})
}

// TestMutatedCases checks cases in which words were dropped, doubled, swapped and
// replaced by others of the corpus, as users do on the way to a schema. A schema
// that still results must be whole.
func TestMutatedCases(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`"[^"]*"|\w+|[^\w\s]`)
	var corpus []string
	var projects []project
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := projectOf(archive)
		projects = append(projects, p)
		for _, src := range p.sources {
			corpus = append(corpus, word.FindAllString(string(stripComments(src.Text)), -1)...)
		}
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		for _, p := range projects {
			mutated := project{config: p.config, functions: p.functions}
			for _, src := range p.sources {
				words := word.FindAllString(string(stripComments(src.Text)), -1)
				for range 1 + r.IntN(3) {
					words = mutate(words, corpus, r)
				}
				mutated.sources = append(mutated.sources, &syntax.Source{Name: src.Name, Text: []byte(strings.Join(words, " "))})
			}
			checkWhole(t, mutated)
		}
	}
}

func stripComments(text []byte) []byte {
	return regexp.MustCompile(`//.*`).ReplaceAll(text, nil)
}

// mutate changes one word.
func mutate(words, corpus []string, r *rand.Rand) []string {
	if len(words) == 0 {
		return words
	}
	i, j := r.IntN(len(words)), r.IntN(len(words))
	words = slices.Clone(words)
	switch r.IntN(5) {
	case 0:
		words = slices.Delete(words, i, i+1)
	case 1:
		words = slices.Insert(words, i, words[j])
	case 2:
		words[i], words[j] = words[j], words[i]
	case 3:
		words[i] = words[j]
	case 4:
		words[i] = corpus[r.IntN(len(corpus))]
	}
	return words
}

// checkWhole checks a project that may hold anything. A panic is shown with the
// project that provoked it.
func checkWhole(t *testing.T, p project) {
	t.Helper()
	defer func() {
		if failure := recover(); failure != nil {
			for _, src := range p.sources {
				t.Logf("%s", src.Text)
			}
			panic(failure)
		}
	}()
	s, errs := p.check()
	if (s == nil) != errs.HasErrors() {
		t.Errorf("schema is nil: %t, but errors: %t\n%s", s == nil, errs.HasErrors(), show(errs))
	}
	if s == nil {
		return
	}
	for _, m := range s.Models {
		for _, f := range m.Fields {
			switch {
			case f.IsRelation() && f.Target == nil, f.IsToMany() && f.Inverse == nil, f.Type.Kind == expr.Enum && f.Enum == nil,
				f.IsToOne() && f.Column != "" && (f.FK == nil || f.FK.FKOf != f || f.OnDelete == ""),
				f.IsToOne() && f.Column == "" && (f.Inverse == nil || f.Inverse.Column == "" || !f.Optional),
				f.Inverse != nil && f.Inverse.Inverse != f:
				t.Errorf("field %s.%s is half done: %+v", m.Name, f.Name, f)
			}
		}
	}
	for _, a := range s.Actions {
		if needsPins := a.Kind == model.Get || a.Kind == model.Update || a.Kind == model.Delete; needsPins && !a.Custom && len(a.Pins) == 0 {
			t.Errorf("action %s pins nothing", a.Name)
		}
		if (a.Model == nil) == (a.Union == nil) {
			t.Errorf("action %s is of a model and a union, or of neither", a.Name)
		}
	}
}
