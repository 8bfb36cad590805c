package rule

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// hasJobs tells whether code runs without a caller, under rules that name it.
func (l *Lowering) hasJobs() bool {
	return len(l.Schema.Jobs) > 0 || slices.ContainsFunc(l.Schema.Subscribers, func(s *model.Subscriber) bool { return s.IsCode })
}

// admittedJobs is the condition for custom code where some runs without a caller: the rules of the model itself in a
// call, the rules that name a job in its code.
func admittedJobs(m *model.Model, inCalls *pg.Branch, kinds ...model.Kind) *pg.Branch {
	job := value.Settled(pg.Fn("platform.job"), value.InQuery)
	alternatives := []pg.Expr{pg.AllOf(pg.IsNull(job), inCalls.Condition)}
	comment := inCalls.Comment
	for _, r := range m.Rules {
		if len(r.Jobs) == 0 || !slices.ContainsFunc(kinds, func(k model.Kind) bool { return slices.Contains(r.JobKinds, k) }) {
			continue
		}
		alternatives = append(alternatives, pg.AllOf(&pg.In{Value: job, List: texts(r.Jobs)}, PolicyRule(m, []*model.Rule{r})))
		if comment != "" {
			comment += "; "
		}
		comment += "jobs " + strings.Join(r.Jobs, ", ") + ": " + ruleText([]*model.Rule{r})
	}
	return &pg.Branch{Comment: comment, Condition: pg.AnyOf(alternatives...)}
}
