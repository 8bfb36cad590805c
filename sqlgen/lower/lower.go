package lower

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The schemas of every database. The platform makes them, and the roles that package role names.
const (
	appSchema     = "app"
	relatedSchema = "related"
	apiSchema     = "api"
	codeSchema    = "functions"
)

// Schema lowers a checked schema to a database without texts, which emit.Render adds, and describes how a server calls its
// functions. source names the files it was read from.
func Schema(s *model.Schema, source string) (*pg.Database, *release.Manifest) {
	l := &lowering{schema: s, names: pg.NewNames(), functions: pg.NewNames()}
	db := &pg.Database{Source: source}

	l.reserveNames()
	l.nested = nestedInserts(s)
	l.calculated = calculatedFields(s)
	l.derived, l.partKeys, l.partNames = map[*model.Field]*part{}, map[string]*part{}, map[*model.Model]*pg.Names{}
	for _, m := range s.Models {
		l.compute(m)
	}
	l.findLate()
	for _, m := range s.Models {
		db.Tables = append(db.Tables, l.table(m)) // columns, constraints, indexes, triggers
		db.Views = append(db.Views, l.view(m))
	}
	db.Views = append(db.Views, l.roles()...)
	db.Views = append(db.Views, l.unionViews()...)
	demands := make([]policies, len(s.Models))
	for i, m := range s.Models {
		demands[i] = l.demands(m)
	}
	l.giveOwners(db.Views, demands)
	for _, a := range s.Actions {
		if a.Custom {
			db.Expected = append(db.Expected, Signature(a))
		}
		db.Functions = append(db.Functions, l.action(a)...)
	}
	for _, p := range l.parts {
		db.Derived = append(db.Derived, pg.DerivedColumn{Table: p.owner.Table, Column: p.column})
	}
	for i, m := range s.Models {
		l.secure(db.Tables[i], m, demands[i]) // policies and grants, for the actions that reach the table
	}
	return db, l.manifest()
}

// table lowers a model to its table, without policies and grants.
func (l *lowering) table(m *model.Model) *pg.Table {
	t, late := l.plainTable(m) // columns, constraints, references
	l.computedColumns(t, m)    // how computed columns come by their values, and the columns that these are made of
	l.giveIndexes(t, m)        // declared ones, and those that lists need
	t.Triggers = append([]*pg.Trigger{l.touch(m)}, fileTriggers(m)...)
	l.keep(t, m)           // triggers that keep computed values
	l.testLate(t, m, late) // the trigger that tests rules over computed values
	if m.IsIdentity {
		t.Triggers = append(t.Triggers, &pg.Trigger{Name: "_300_sign_out", Timing: "after delete", Function: "platform.tg_sign_out"})
	}
	return t
}

// lowering holds the state that the stages of one run share.
type lowering struct {
	schema    *model.Schema
	names     *pg.Names // names of relations and constraints in schema app
	functions *pg.Names // names of functions in schema api

	// Information for the server, gathered on the way.
	constraints []namedConstraint
	foreseen    map[*model.Action][]*release.Foreseen
	facets      map[*model.Action]string // functions that count the values of all rows of a list
	early       map[*model.Action]string // functions that decide before anything is prepared

	derived    map[*model.Field]*part       // parts of computed fields; nil for a generated column
	parts      []*part                      // each behind those that it is made of
	partKeys   map[string]*part             // parts by their keys
	partNames  map[*model.Model]*pg.Names   // names of the parts' columns
	ranks      map[*model.Model]int         // the order in which keepers lock rows of several tables; nil until it is asked for
	steps      map[*model.Model][]*keepStep // of the keepers of tables, as far as they were asked for
	turns      []link                       // the keys that have turns; nil until they are asked for
	calculated map[*model.Field]bool        // fields whose values come from arithmetic
	feedsLate  map[*model.Model]bool        // models whose rows late rules depend on

	indexed map[*model.Model]map[string]bool // columns that indexes begin with, those of keys included

	nested map[*model.Model][]nested // rows that actions insert beside their own, by model
	owners map[string]string         // the roles that the functions of actions run as, by the actions' names
}

// reserveNames takes the names that the schema itself gives, so that a generated name gives way to them and never the
// other way round.
func (l *lowering) reserveNames() {
	for _, m := range l.schema.Models {
		l.names.Take(m.Table)
	}
	for _, a := range l.schema.Actions {
		l.functions.Take(functionName(a))
	}
	l.feedsLate = map[*model.Model]bool{}
	l.foreseen = map[*model.Action][]*release.Foreseen{}
	l.facets = map[*model.Action]string{}
	l.indexed = map[*model.Model]map[string]bool{}
	l.early = map[*model.Action]string{}
	l.owners = map[string]string{}
	l.steps = map[*model.Model][]*keepStep{}
}
