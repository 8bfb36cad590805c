package check

import (
	"errors"
	"slices"
	"strconv"
	_ "time/tzdata" // a schema means the same on every machine

	"github.com/sternpost/sternpost/sql/schedule"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// maxRetries limits how often a run that failed is tried again.
const maxRetries = 20

// declareJobs enters the jobs, each with the action by which callers start it.
func (c *checker) declareJobs(functions *clashes) {
	for _, f := range c.files {
		for _, d := range f.Decls {
			if tree, ok := d.(*syntax.Job); ok {
				c.declareJob(tree, functions)
			}
		}
	}
}

func (c *checker) declareJob(tree *syntax.Job, functions *clashes) {
	name := tree.Name
	if t := c.types[name.Name]; t != nil {
		c.report(DuplicateType, name.Span(), duplicateType(name.Name), note(t.span, declaredHere(name.Name)))
		return
	}
	if earlier := c.job(name.Name); earlier != nil {
		c.report(DuplicateType, name.Span(), duplicateType(name.Name), note(earlier.Span, declaredHere(name.Name)))
		return
	}
	start := tree.Start(model.Variable(name.Name))
	if earlier := c.names[start.Name.Name]; earlier != nil {
		c.report(NameClash, name.Span(), jobClash(name.Name, start.Name.Name), note(earlier.Span, declaredHere(start.Name.Name)))
		return
	}
	rows := &model.Model{Name: name.Name, Variable: start.Name.Name, Doc: text(tree.Doc), Span: name.Span()}
	a := &actionDecl{tree: start, model: &modelDecl{Model: rows, tree: &syntax.Model{}}, brokenInputs: map[string]bool{}}
	a.Action = &model.Action{
		Kind: model.Start, Name: start.Name.Name, Function: model.SnakeForm(start.Name.Name), Doc: rows.Doc, Model: rows, Span: name.Span(),
		Custom: true, CustomAt: name.Span(),
	}
	c.names[a.Name] = a
	c.checkActionName(a, functions)
	j := &jobDecl{Job: &model.Job{Name: name.Name, Doc: rows.Doc, Start: a.Action, Retries: 3, Span: name.Span()}, start: a, tree: tree}
	c.jobs = append(c.jobs, j)
	c.schema.Jobs = append(c.schema.Jobs, j.Job)
	if j.has("permission") {
		c.actions = append(c.actions, a)
		c.schema.Actions = append(c.schema.Actions, a.Action)
	}
}

// jobDecl is a job with the tree it comes from.
type jobDecl struct {
	*model.Job
	start *actionDecl
	tree  *syntax.Job
}

func (j *jobDecl) has(attribute string) bool {
	return slices.ContainsFunc(j.start.tree.Attrs, func(a *syntax.Attribute) bool { return a.Name.Name == attribute })
}

// job returns the job of that name, or nil.
func (c *checker) job(name string) *jobDecl {
	i := slices.IndexFunc(c.jobs, func(j *jobDecl) bool { return j.Name == name })
	if i < 0 {
		return nil
	}
	return c.jobs[i]
}

// checkJobs checks what jobs say beside what actions say, which checkAction does.
func (c *checker) checkJobs() {
	for _, j := range c.jobs {
		if !j.has("permission") {
			c.checkAction(j.start)
		}
		for _, f := range syntax.FieldsOf(j.tree.Members) {
			c.allowedAttributes(onJobInput, f.Attrs)
		}
		for _, in := range j.Start.Reads {
			switch k := in.Type.Kind; {
			case k.IsWriteOnly() || k == expr.File:
				c.report(JobInput, in.Span, jobInputType(in.Name))
			case j.has("schedule") && !in.Optional:
				c.report(JobInput, in.Span, jobInputRequired(in.Name))
			}
		}
		for _, a := range j.start.attrs {
			switch a.Name.Name {
			case "retries":
				c.retries(j, a)
			case "schedule":
				c.schedule(j, a)
			}
		}
		if !j.has("permission") && !j.has("schedule") && !j.tree.Incomplete() {
			c.report(JobNeverRuns, j.Span, jobNeverRuns(j.Name))
		}
	}
}

// retries reads a @retries(n).
func (c *checker) retries(j *jobDecl, a *syntax.Attribute) {
	value := c.oneArgument(a)
	if value == nil {
		return
	}
	number, ok := value.(*syntax.Number)
	if ok {
		n, err := strconv.Atoi(number.Text)
		if ok = err == nil && n >= 0 && n <= maxRetries; ok {
			j.Retries = n
		}
	}
	if !ok {
		c.badArguments(a, value.Span())
	}
}

// schedule reads a @schedule("…", timeZone: "…").
func (c *checker) schedule(j *jobDecl, a *syntax.Attribute) {
	var texts [2]*syntax.String
	for i, arg := range a.Args {
		text, isText := arg.Value.(*syntax.String)
		isPlain := i == 0 && arg.Label == nil || i == 1 && arg.Label != nil && arg.Label.Name == "timeZone"
		if !isText || !isPlain || arg.Target != nil {
			c.badArgument(a, arg)
			return
		}
		texts[i] = text
	}
	if texts[0] == nil {
		c.badArguments(a, a.Name.Span())
		return
	}
	s := &model.Schedule{Text: texts[0].Value}
	if texts[1] != nil {
		s.Zone = texts[1].Value
	}
	switch _, err := schedule.Parse(s.Text, s.Zone); {
	case errors.Is(err, schedule.ErrZone):
		c.report(BadSchedule, texts[1].Span(), badSchedule(s.Zone, err))
	case err != nil:
		c.report(BadSchedule, texts[0].Span(), badSchedule(s.Text, err))
	case slices.ContainsFunc(j.Schedules, func(other *model.Schedule) bool { return *other == *s }):
		c.report(BadSchedule, a.Span(), scheduledTwice())
	default:
		j.Schedules = append(j.Schedules, s)
	}
}
