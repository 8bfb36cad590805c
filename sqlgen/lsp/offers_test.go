package lsp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// unfinished are the codes for parts that are still to be written behind an item: none
// refuses the item.
var unfinished = []syntax.Code{
	syntax.Syntax,             // brackets and names that follow
	schema.AttributeArguments, // those of an attribute
	schema.InputIsRelation,    // a path that goes on
	schema.BadReturns,         // the kind of an action, whose returns follows
	schema.ReadInputOnCreate,  // and whose parentheses are those of another kind
	expr.NotBoolean,           // an operand, whose operator follows
	expr.NestedComparison,
	expr.WriteOnlyField, // a test for null
	schema.EmptyRule,    // the arguments of @permission
	schema.RuleActions,
	schema.UncoveredField,        // further inputs
	schema.RequiredSelfReference, // a ?
	schema.MessageCycle,
	expr.UnknownEnumValue,    // a value, behind the name of the enum
	expr.DefaultNotConstant,  // ctx.now
	schema.DefaultNeedsValue, // of an enum
}

// offered is an item at a place of a schema.
type offered struct {
	text       string // with the item in it
	start, end int    // of the item
	item       string
	goesOn     bool // whether more can follow behind a dot
	typed      bool // whether a path is on the other side of its operator, so that its type is asked for
}

// offersOf returns all that completion offers at the places of a project: instead of each
// word, and behind it.
func offersOf(p *sqlgen.Project) []offered {
	var all []offered
	source := p.Files[0]
	text := string(source.Text)
	add := func(x *index, before string, offset int, after string) {
		s := spotAt(x.file(source.Name), offset)
		for _, y := range x.offers(s) {
			insert := y.insert
			if insert == "" {
				insert = y.name
			}
			if insert != s.word {
				all = append(all, offered{before + insert + after, len(before), len(before) + len(insert), y.name, y.next != nil, len(s.against) > 0})
			}
		}
	}
	x := newIndex(p)
	for i := range x.file(source.Name).Tokens {
		token := &x.file(source.Name).Tokens[i]
		if token.Kind != syntax.TokenName {
			continue
		}
		start, end := token.Span.Start.Offset, token.Span.End.Offset
		add(x, text[:start], start, text[end:])
		spaced := withFile(p, text[:end]+"  "+text[end:])
		add(newIndex(spaced), text[:end]+" ", end+1, " "+text[end:])
	}
	return all
}

// withFile returns a project with another text in its first file, and with the files of
// custom code by name only.
func withFile(p *sqlgen.Project, text string) *sqlgen.Project {
	other := &sqlgen.Project{Config: p.Config, Files: slices.Clone(p.Files)}
	other.Files[0] = &syntax.Source{Name: p.Files[0].Name, Text: []byte(text)}
	for _, f := range p.Functions {
		other.Functions = append(other.Functions, &syntax.Source{Name: f.Name})
	}
	return other
}

// refusal returns the compiler's error for an item where it is offered, or nil.
func (o offered) refusal(p *sqlgen.Project) *syntax.Diagnostic {
	_, errs := sqlgen.Check(withFile(p, o.text))
	for _, e := range errs {
		switch {
		case e.Warning, e.Span.File == nil, e.Span.Start.Offset >= o.end, e.Span.End.Offset <= o.start, slices.Contains(unfinished, e.Code):
		case e.Code == expr.NotOwnField && o.goesOn: // a relation, which can be tested for null
		case (e.Code == expr.OperandTypes || e.Code == expr.TypeMismatch || e.Code == expr.ArmField) && (o.goesOn || !o.typed): // arithmetic, or a literal
		case (e.Code == schema.BadSelect || e.Code == schema.BadEmbed) && o.goesOn: // a deeper path
		case e.Code == schema.SetTarget && o.goesOn: // a field of the rows that are made there
		case e.Code == expr.BadAggregate && (o.goesOn || aggregateWords.has(o.item)): // a path, or the number of arguments
		case e.Code == expr.UnknownName && (o.goesOn || o.item == "headers" || o.item == "env" || o.item == "secrets"): // a name that follows
		default:
			return e
		}
	}
	return nil
}

// The compiler does not refuse the offers of completion. This tries a thousand of all items
// at all places of the example apps; make fuzz tries more.
func TestOffersAreTaken(t *testing.T) {
	t.Parallel()
	for n, p := range appProjects() {
		all := appOffers()[n]
		chosen := rand.New(rand.NewPCG(1, 2)).Perm(len(all))
		for _, i := range chosen[:min(len(all), 500)] {
			checkOffer(t, p, all[i])
		}
	}
}

// appProjects are the example apps, appOffers the offers in each.
var (
	appProjects = sync.OnceValue(func() (projects []*sqlgen.Project) {
		for _, app := range apps {
			p, err := sqlgen.ReadProject(appDir(app))
			if err != nil {
				panic(err)
			}
			projects = append(projects, p)
		}
		return projects
	})
	appOffers = sync.OnceValue(func() (all [][]offered) {
		for _, p := range appProjects() {
			all = append(all, offersOf(p))
		}
		return all
	})
)

func checkOffer(t *testing.T, p *sqlgen.Project, o offered) {
	t.Helper()
	if e := o.refusal(p); e != nil {
		line := o.text[strings.LastIndexByte(o.text[:o.start], '\n')+1:]
		line, _, _ = strings.Cut(line, "\n")
		t.Errorf("%s is offered in\n%s\nand refused: %s [%s]", o.item, fmt.Sprintf("%d: %s", strings.Count(o.text[:o.start], "\n")+1, line), e.Message, e.Code)
	}
}

func FuzzOffersAreTaken(f *testing.F) {
	f.Add(uint(0), uint(0))
	f.Fuzz(func(t *testing.T, app, item uint) {
		n := app % uint(len(apps))
		all := appOffers()[n]
		checkOffer(t, appProjects()[n], all[item%uint(len(all))])
	})
}
