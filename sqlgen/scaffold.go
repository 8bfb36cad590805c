package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Scaffold returns a first version of each file of custom code that a project lacks:
// a function as its action calls it, which raises that it is not written yet. There
// are none while the schema has other errors.
func Scaffold(p *Project) []*syntax.Source {
	_, errs := Check(p)
	whole := *p
	whole.Functions = slices.Clone(p.Functions)
	missing := map[string]bool{} // actions
	for _, d := range errs {
		if d.Code == check.FunctionFileMissing {
			name := model.Variable(string(d.Span.File.Text[d.Span.Start.Offset:d.Span.End.Offset])) // an action's, or a job's
			missing[name] = true
			whole.Functions = append(whole.Functions, &syntax.Source{Name: "functions/" + name + ".sql"})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	checked, errs := Check(&whole)
	if errs.HasErrors() {
		return nil
	}
	var files []*syntax.Source
	all := slices.Clone(checked.Actions)
	for _, j := range checked.Jobs {
		if !slices.Contains(all, j.Start) {
			all = append(all, j.Start)
		}
	}
	for _, a := range all {
		if missing[a.Name] {
			files = append(files, &syntax.Source{Name: "functions/" + a.Name + ".sql", Text: []byte(firstVersion(a))})
		}
	}
	return files
}

// firstVersion is the text of a file of custom code to begin with.
func firstVersion(a *model.Action) string {
	var b strings.Builder
	if a.Doc == "" {
		fmt.Fprintf(&b, "-- The code of the action %s of %s.\n", a.Name, rule.OwnerOf(a))
	}
	for line := range strings.Lines(a.Doc) {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight("-- "+line, " \n"))
	}
	reaches := "-- It runs as the caller, who reaches the rows that the rules of the models admit. It may refuse: raise exception 'why'\n"
	if a.Kind == model.Start {
		reaches = "-- It reaches the rows that rules with jobs: [" + a.Model.Name + "] admit. It may fail: raise exception 'why'\n"
	}
	b.WriteString("--\n" + reaches + "-- using errcode = 'SP409', or SP400, SP403, SP404.\n")
	s := call.Signature(a)
	s.Or = ""
	head := "create function " + s.String()
	if len(head) > 120 {
		head = strings.Replace(head, "(", "(\n  ", 1)
		i := strings.LastIndex(head, ") returns ")
		head = strings.ReplaceAll(head[:i], ", ", ",\n  ") + "\n" + head[i:]
	}
	volatility := "volatile"
	if a.Kind == model.Get || a.Kind == model.List || a.Kind == model.Read {
		volatility = "stable"
	}
	fmt.Fprintf(&b, "%s\nlanguage plpgsql\n%s\nsecurity invoker\nas $$\nbegin\n  raise exception '%s.%s is not written yet';\nend;\n$$;\n",
		head, volatility, s.Schema, s.Name)
	return b.String()
}
