package call

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sql/role"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A job has a function that runs its code, <job>__run. The function of the action that starts it only queues a run.

// Runs returns the functions that run the jobs, and tells the server of them.
func (l *Lowering) Runs(db *pg.Database) []*pg.Function {
	var functions []*pg.Function
	for _, j := range l.Schema.Jobs {
		db.Expected = append(db.Expected, Signature(j.Start))
		f := l.runsJob(j)
		functions = append(functions, f)
		job := release.Job{Name: j.Name, Run: f.Name, Retries: j.Retries}
		for _, s := range j.Schedules {
			job.Schedules = append(job.Schedules, release.Schedule{Text: s.Text, TimeZone: s.Zone})
		}
		l.Jobs = append(l.Jobs, job)
	}
	return functions
}

// runsJob returns the function that runs the code of a job.
func (l *Lowering) runsJob(j *model.Job) *pg.Function {
	b := &Builder{Action: j.Start, names: pg.NewNames(), Values: map[*model.Input]pg.Expr{}}
	b.Fn = &pg.Function{
		Schema: value.APISchema, Name: l.Functions.Take(j.Start.Function + "__run"), Title: "job " + j.Name + ", by " + codeFile(j.Start),
		Comment:    "Runs the code of job " + j.Name + ".",
		Owner:      role.Code,
		Origin:     pg.Origin{Of: "job " + j.Name},
		Arguments:  []pg.Argument{{Name: "input", Type: "jsonb"}, {Name: "context", Type: "jsonb"}},
		Returns:    "jsonb",
		Volatility: pg.Volatile,
	}
	result := pg.As(b.CallCode(), "text") // empty if the code returns void
	b.Step("", &pg.Perform{Value: pg.Fn("platform.enter_job", pg.Str(j.Name), value.Context)})
	b.Step("", &pg.Return{Value: pg.As(pg.Fn("nullif", result, pg.Str("")), "jsonb")})
	b.Fn.Variables = b.inputs
	return b.Fn
}

// startJob queues a run of the job.
func (b *Builder) startJob() {
	b.Step("", &pg.Return{Value: pg.Fn("platform.job_start", pg.Str(b.Model.Name), value.Input)})
}
