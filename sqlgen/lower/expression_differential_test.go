package lower

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
)

var (
	differential     = flag.Duration("differential", 0, "how long to compare random expressions; 0 means a fixed number of schemas")
	differentialSeed = flag.Uint64("differential-seed", 0, "the seed of the first schema; 0 means one that is fixed, or with -differential a new one")
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// testPlace is the place of a random expression, which decides how it is judged.
type testPlace int

const (
	whereOfAction testPlace = iota
	ruleOfAction
	earlyOfAction  // a rule, before any row is read
	uploadOfAction // a rule, before any row and the input are read
	validateOfAction
	validateOfModel
)

func testPlaces() []testPlace {
	return []testPlace{whereOfAction, ruleOfAction, earlyOfAction, uploadOfAction, validateOfAction, validateOfModel}
}

// String returns the place as tests print it.
func (p testPlace) String() string {
	return [...]string{"@where", "@permission", "@permission early", "@permission of an upload", "@validate of an action", "@validate of a model"}[p]
}

// logic returns the logic of the place.
func (p testPlace) logic() value.Logic {
	return [...]value.Logic{value.WhereLogic, value.RuleLogic, value.RuleLogic, value.RuleLogic, value.ValidateLogic, value.ValidateLogic}[p]
}

// hasRow tells whether an expression at the place is evaluated for each row.
func (p testPlace) hasRow() bool {
	return p == whereOfAction || p == ruleOfAction || p == validateOfModel
}

// isRule tells whether the expression is that of a @permission.
func (p testPlace) isRule() bool { return p == ruleOfAction || p.isEarly() }

// isEarly tells whether the expression is decided before any row is read.
func (p testPlace) isEarly() bool { return p == earlyOfAction || p == uploadOfAction }

// mayBeUnknown tells whether the expression has a third value.
func (p testPlace) mayBeUnknown() bool { return p.isEarly() || p.logic() == value.ValidateLogic }

// share is how many expressions a model gets at the place.
func (p testPlace) share() int { return [...]int{40, 40, 30, 20, 20, 20}[p] }

// subject is an expression under test: that of one attribute, or of several @wheres, which are one expression together.
type subject struct {
	place testPlace
	model string
	terms []*term
	nodes []expr.Node // once it is checked
}

// attributes returns the expression as attributes of the schema language.
func (s *subject) attributes() string {
	texts := make([]string, len(s.terms))
	for i, t := range s.terms {
		switch {
		case s.place == whereOfAction:
			texts[i] = "@where(" + t.String() + ")"
		case s.place.isRule():
			texts[i] = "@permission(expression: " + t.String() + ")"
		default:
			texts[i] = "@validate(" + t.String() + ")"
		}
	}
	return strings.Join(texts, " ")
}

// value is the interpreter's value of the expression.
func (s *subject) value(call expr.Call) expr.Truth {
	holds := false
	switch s.place {
	case validateOfAction, validateOfModel:
		return expr.Validate(call, s.nodes[0])
	case ruleOfAction:
		holds = expr.Admits(call, s.nodes[0])
	case earlyOfAction:
		return expr.Early(call, s.nodes[0])
	case uploadOfAction:
		return expr.Foresee(call, s.nodes[0], knownAtUpload, nil)
	case whereOfAction:
		holds = expr.Holds(call, s.nodes...)
	}
	if holds {
		return expr.True
	}
	return expr.False
}

// tally counts the cases of a run of the test.
type tally struct {
	written, accepted int // expressions
	cases             int // values compared
	outcomes          [6][3]int
}

// TestDifferential compares the value that Postgres finds for random expressions
// with the interpreter's, over random schemas, rows and calls. With the flag
// -differential it goes on for that long.
func TestDifferential(t *testing.T) {
	t.Parallel()
	var total tally
	n := 0
	forDifferentialTime(t, func(t *testing.T, seed uint64) { n++; compareRandom(t, seed, &total) }, 2)
	if t.Failed() {
		return
	}
	t.Logf("%d of %d expressions accepted; %d values compared; per place false, unknown, true: %v",
		total.accepted, total.written, total.cases, total.outcomes)

	if total.accepted*10 < total.written*8 {
		t.Errorf("only %d of %d expressions were accepted: the generator misses the language", total.accepted, total.written)
	}
	for _, place := range testPlaces() {
		for truth, found := range total.outcomes[place] {
			if found < 50*min(n, 10) && (expr.Truth(truth) != expr.Unknown || place.mayBeUnknown()) {
				t.Errorf("%s was %s only %d times: this shows little", place, expr.Truth(truth), found)
			}
		}
	}
}

// compareRandom makes a schema and expressions over it, and compares their values
// in several worlds.
func compareRandom(t *testing.T, seed uint64, total *tally) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	written := lab.randomSubjects(r)
	subjects := lab.check(t, written)
	total.written += len(written)
	total.accepted += len(subjects)
	lab.checkConstraints(t, subjects)
	experiments := lab.experiments(subjects)
	for range 20 {
		w := randomWorld(r, lab.schema, lab.inputs, r.chance(50))
		if d := lab.compare(t, w, experiments, total); d != nil {
			t.Fatal(lab.explain(lab.shrink(t, d)))
		}
	}
}

// randomRules returns those of random expressions that are rules of actions.
func (lab *laboratory) randomRules(r random) []*subject {
	return slices.DeleteFunc(lab.randomSubjects(r), func(s *subject) bool { return s.place != ruleOfAction })
}

// randomSubjects returns random expressions for all models and places.
func (lab *laboratory) randomSubjects(r random) []*subject {
	var subjects []*subject
	for _, m := range lab.models {
		for _, place := range testPlaces() {
			row := modelNamed(lab.schema, m.name)
			inputs := slices.DeleteFunc(slices.Clone(lab.inputs), func(in *model.Input) bool { return place == validateOfModel || !m.hasInput(in.Name) })
			if place == validateOfAction {
				row = nil // cannot be named
			}
			g := newGenerator(r, lab.schema, row, inputs, place == validateOfModel)
			if place == ruleOfAction {
				for _, text := range []string{"ctx.secondFactor", `ctx.signedInWithin("5 minutes")`} {
					g.add(candidate{text: text, typ: expr.Type{Kind: expr.Boolean}})
				}
			}
			for range place.share() {
				s := &subject{place: place, model: m.name, terms: []*term{g.expression()}}
				if place == whereOfAction && r.chance(30) {
					s.terms = append(s.terms, g.expression())
				}
				subjects = append(subjects, s)
			}
		}
	}
	return subjects
}

// knownAtUpload knows the caller and ctx, but neither the row nor the inputs.
func knownAtUpload(p *expr.Path) expr.Knowledge {
	if p.Root == expr.RootRow || p.Root == expr.RootInput {
		return expr.Open
	}
	return expr.Fixed
}
