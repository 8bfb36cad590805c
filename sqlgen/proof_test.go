package sqlgen_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

var (
	proofChains = flag.Int("proof", 3, "how many chains of random schemas TestProof migrates")
	proofSeed   = flag.Uint64("proof-seed", 0, "the seed of the first chain; with -proof 1 the only one")
)

// TestProof migrates databases with rows along chains of random schemas, each made from
// the one before by edits as people make them, and holds after every step:
//
//   - the catalog is what a fresh installation of the new schema has;
//   - rows and values are there wherever the schema says so, under their new names;
//   - what would be lost was refused before, with how many rows or values, and nothing else;
//   - what was refused, or failed on rows, has changed nothing, and the schema before it is
//     installed as it was;
//   - to do it again does nothing.
//
// Callers get the same answers then from the migrated database as from a fresh one with
// the same rows. A third of the chains go by files of migrations, the others by install.
// Which values must survive is worked out from the edits and values alone: see fateOf.
func TestProof(t *testing.T) {
	t.Parallel()
	chains := *proofChains
	total := &proofTally{edits: map[string]int{}}
	t.Run("chains", func(t *testing.T) {
		for n := range chains {
			seed := *proofSeed + uint64(n)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				newChain(t, seed, total).run()
			})
		}
	})
	total.check(t, chains)
}

// proofTally counts the cases that a run of the test has met.
type proofTally struct {
	sync.Mutex
	pairs, byFiles, files  int
	refused, broken        int
	kept, moved, lost      int
	edits                  map[string]int
	calls, allowed, denied int
}

func (p *proofTally) add(count func()) {
	p.Lock()
	defer p.Unlock()
	count()
}

// check fails if a run has proven too little.
func (p *proofTally) check(t *testing.T, chains int) {
	t.Logf("%d pairs, of which %d by %d files; %d refused at first, %d given up since rows do not allow them; "+
		"%d values kept, %d of them renamed or converted, %d losses foretold; %d calls answered alike, %d allowed, %d denied",
		p.pairs, p.byFiles, p.files, p.refused, p.broken, p.kept, p.moved, p.lost, p.calls, p.allowed, p.denied)
	t.Logf("edits: %v", p.edits)
	if chains < 20 || t.Failed() {
		return
	}
	for _, e := range edits() {
		if p.edits[e.name] == 0 {
			t.Errorf("no pair has a %s", e.name)
		}
	}
	for what, count := range map[string]int{
		"pair by install": p.pairs - p.byFiles, "pair by files": p.byFiles, "second file": p.files - p.byFiles,
		"refusal": p.refused, "change that rows do not allow": p.broken, "value kept": p.kept, "value renamed or converted": p.moved,
		"allowed call": p.allowed, "denied call": p.denied,
	} {
		if count < chains/20 {
			t.Errorf("only %d times a %s in %d chains", count, what, chains)
		}
	}
}

// chain is a database that follows a chain of schemas.
type chain struct {
	t     *testing.T
	seed  uint64
	total *proofTally
	s     *schemaText

	base    *pgtest.DB
	owner   *pgx.Conn
	files   bool   // whether it uses files of migrations
	project string // their project
	db      *emit.Release
	told    []string // the steps so far, for the message of a failure
}

func newChain(t *testing.T, seed uint64, total *proofTally) *chain {
	s := &schemaText{Rand: rand.New(rand.NewPCG(seed, 27)), taken: map[string]bool{}, spent: map[string]bool{}, small: true}
	return &chain{t: t, seed: seed, total: total, s: s, files: seed%3 == 2}
}

// failf reports a fault, with the steps that repeat it.
func (c *chain) failf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s\nseed %d (go test ./sqlgen -run TestProof -proof 1 -proof-seed %d), after\n%s\nthe schema\n%s",
		fmt.Sprintf(format, args...), c.seed, c.seed, strings.Join(c.told, "\n"), c.s.text())
}

// compiled compiles the schema as it is, with custom code.
func (c *chain) compiled(p *sqlgen.Project) *emit.Release {
	c.t.Helper()
	p.Functions = sqlgen.Scaffold(p)
	compiled, errs := sqlgen.Compile(p)
	if compiled == nil {
		c.failf("it does not compile: %s", rendered(c.t, errs))
	}
	db := compiled.Release()
	if c.s.code == 0 || len(p.Functions) == 0 {
		return db
	}
	table := db.Tables[c.s.code%len(db.Tables)]
	p.Functions[0].Text = fmt.Appendf(p.Functions[0].Text,
		"\n-- Version %d.\ncreate function functions.helper_of_proof(p_row %s) returns text\nlanguage sql\nstable\nsecurity invoker\nas $$\n  select p_row.id;\n$$;\n",
		c.s.code, pg.Qualified(table.Schema, table.Name))
	if compiled, errs = sqlgen.Compile(p); compiled == nil {
		c.failf("its custom code does not compile: %s", rendered(c.t, errs))
	}
	return compiled.Release()
}

func (c *chain) run() {
	p, _ := c.s.project(c.t)
	c.db = c.compiled(p)
	if c.files {
		c.base = pgtest.New(c.t, pgtest.Options{Empty: true})
		c.project = c.t.TempDir()
		if reason := c.migrate(nil, nil); reason != "" {
			c.failf("the first migration: %s", reason)
		}
		c.owner = c.base.Owner(c.t)
	} else {
		c.base = pgtest.New(c.t, pgtest.Options{})
		c.owner = c.base.Owner(c.t)
		if _, err := install.Install(c.t.Context(), c.owner, c.db); err != nil {
			c.failf("install: %v", err)
		}
	}
	people(c.t, c.owner)
	c.s.fill(c.t, c.owner, c.db.Database)
	var fresh *pgtest.DB
	for range 3 + c.s.IntN(4) {
		if reached := c.step(); reached != nil {
			fresh = reached
		} else if c.files {
			fresh = nil
			break // the folder has a file that this database does not take
		}
	}
	if fresh != nil {
		c.checkMatrix(fresh)
	}
}

// step edits the schema and brings the database there. It returns a fresh database of
// the new schema, or nil if the rows do not allow the change.
func (c *chain) step() *pgtest.DB {
	lines := slices.Clone(c.s.lines)
	code := c.s.code
	r := newRenamedNames()
	var names []string
	for tries := 1 + c.s.IntN(3); len(names) < tries; {
		if e := choice(c.s, edits()); e.apply(c.s, r) {
			names = append(names, e.name)
		}
	}
	p, err := c.s.settle()
	if err != nil {
		c.s.lines, c.s.code = lines, code
		return c.step()
	}
	c.told = append(c.told, strings.Join(names, ", ")+lineDifference(lines, c.s.lines))
	new := c.compiled(p)
	before := readRows(c.t, c.owner, c.db.Database)

	var reason string
	given := map[string]bool{}
	foretold := fateOf(c.db.Database, new.Database, r, before, nil)
	old := c.db
	c.db = new
	if c.files {
		reason = c.migrate(foretold, given)
	} else {
		reason = c.install(old, foretold, given)
	}
	if reason != "" {
		c.told = append(c.told, "  given up: "+reason)
		c.db = old
		if !c.files { // the files before the one that rows did not allow are applied
			after := readRows(c.t, c.owner, old.Database)
			kept := fateOf(old.Database, old.Database, newRenamedNames(), before, nil)
			if list := kept.differences(after); len(list) > 0 {
				c.failf("%s\nand yet rows have changed:\n%s", reason, strings.Join(list, "\n"))
			}
		}
		c.s.lines, c.s.code = lines, code
		if !c.files {
			if outcome, err := install.Install(c.t.Context(), c.owner, old); err != nil || outcome.Changed {
				c.failf("the schema before it is not there any longer: %v, %+v", err, outcome)
			}
		}
		c.total.add(func() { c.total.broken++ })
		return nil
	}
	expected := fateOf(old.Database, new.Database, r, before, given)
	if list := expected.differences(readRows(c.t, c.owner, new.Database)); len(list) > 0 {
		c.failf("rows are not as they must be:\n%s", strings.Join(list, "\n"))
	}
	c.total.add(func() {
		c.total.pairs++
		if c.files {
			c.total.byFiles++
		}
		c.total.kept += expected.kept
		c.total.moved += expected.moved
		c.total.lost += len(foretold.losses)
		for _, name := range names {
			c.total.edits[name]++
		}
	})
	c.checkAgain()
	fresh := pgtest.New(c.t, pgtest.Options{})
	conn := fresh.Owner(c.t)
	if _, err := install.Install(c.t.Context(), conn, new); err != nil {
		c.failf("install it fresh: %v", err)
	}
	if list := catalogDifferences(proofCatalog(c.t, c.owner), proofCatalog(c.t, conn)); len(list) > 0 {
		c.failf("the catalog is not that of a fresh installation:\n%s", strings.Join(list, "\n"))
	}
	c.s.fill(c.t, c.owner, new.Database)
	return fresh
}

// lineDifference returns the added and the removed lines.
func lineDifference(old, new []schemaLine) string {
	count := map[string]int{}
	for _, l := range old {
		count[l.text]--
	}
	for _, l := range new {
		count[l.text]++
	}
	text := ""
	for _, line := range slices.Sorted(maps.Keys(count)) {
		if n := count[line]; n != 0 && strings.TrimSpace(line) != "" {
			text += fmt.Sprintf("\n  %s %s", map[bool]string{true: "+", false: "-"}[n > 0], strings.TrimSpace(line))
		}
	}
	return text
}

// install installs the schema: first without permission, then with the permissions that the refusals
// name. It returns why the rows do not allow the change.
func (c *chain) install(old *emit.Release, f *fate, given map[string]bool) string {
	var options install.Options
	for range 4 {
		outcome, err := install.InstallWith(c.t.Context(), c.owner, c.db, options)
		var refused *install.RefusedError
		var misfit *install.RowsError
		var bad *install.BackfillError
		switch {
		case errors.As(err, &bad) && bad.Cause.Code[:2] == "23":
			return err.Error() // another row has this value of a key already
		case errors.As(err, &refused):
			if len(options.Allow)+len(options.Backfills) == 0 {
				c.checkForetold(f, refused.Refused, true)
			}
			if reason := c.permit(refused.Refused, &options, given); reason != "" {
				return reason
			}
		case errors.As(err, &misfit):
			c.checkMisfit(misfit.Cause)
			return err.Error()
		case err != nil:
			c.failf("install: %v", err)
		default:
			if len(options.Allow)+len(options.Backfills) == 0 {
				c.checkForetold(f, nil, true)
			}
			if len(outcome.Plan.Unused) > 0 {
				c.failf("allowed for nothing: %q", outcome.Plan.Unused)
			}
			return ""
		}
	}
	c.failf("it is refused again and again, with all that the refusals ask for: %+v", options)
	return ""
}

// migrate does the same by files.
func (c *chain) migrate(f *fate, given map[string]bool) string {
	var options install.Options
	for range 4 {
		folder, err := migrate.ReadFolder(c.project)
		if err != nil {
			c.failf("%v", err)
		}
		written, err := migrate.New(folder, "step", c.db, migrate.PlanOptions{Allow: options.Allow, Backfills: options.Backfills})
		var refused *migrate.RefusedError
		switch {
		case errors.Is(err, migrate.ErrNothingChanged):
			if f != nil {
				c.checkForetold(f, nil, false)
			}
			return ""
		case errors.As(err, &refused):
			if len(options.Allow)+len(options.Backfills) == 0 {
				c.checkForetold(f, refused.Refused, false)
			}
			if reason := c.permit(refused.Refused, &options, given); reason != "" {
				return reason
			}
			continue
		case err != nil:
			c.failf("migrate new: %v", err)
		}
		if f != nil && len(options.Allow)+len(options.Backfills) == 0 {
			c.checkForetold(f, nil, false)
		}
		if folder, err = migrate.ReadFolder(c.project); err != nil {
			c.failf("%v", err)
		}
		_, err = migrate.Up(c.t.Context(), folder, migrate.UpOptions{URL: c.base.OwnerURL(), Patience: -1})
		var failed *migrate.ApplyError
		switch {
		case errors.As(err, &failed) && (failed.Cause.Code[:2] == "23" || failed.Cause.Code[:2] == "22"):
			c.checkMisfit(failed.Cause)
			return err.Error()
		case err != nil:
			c.failf("migrate up: %v", err)
		}
		if f != nil {
			c.total.add(func() { c.total.files += len(written.Files) })
		}
		return ""
	}
	c.failf("it is refused again and again, with all that the refusals ask for: %+v", options)
	return ""
}

// checkMisfit reports rows whose column of an enum holds another value. Such rows are refused, or
// changed by the migration.
func (c *chain) checkMisfit(cause *pgconn.PgError) {
	c.t.Helper()
	for _, t := range c.db.Tables {
		for _, check := range t.Constraints {
			if check.Name == cause.ConstraintName && t.Name == cause.TableName && check.OfType && len(t.Column(check.Columns[0]).Values) > 0 {
				c.failf("rows hold what their enum does not have: %v", cause)
			}
		}
	}
}

// lossOf names the subject of a refusal as fateOf does. It is empty if fateOf cannot know it: whether
// rows satisfy a constraint.
func lossOf(r *diff.Refusal) string {
	switch {
	case strings.HasPrefix(r.Object, "value "):
		return r.Object
	case strings.Contains(r.Change, "would be dropped"):
		return r.Object + " dropped"
	case strings.HasPrefix(r.Change, "would change its type"):
		return r.Object + " type"
	case strings.HasPrefix(r.Change, "would be required"):
		return r.Object + " required"
	case strings.HasPrefix(r.Change, "would be numbered"):
		return r.Object + " sequence"
	case strings.HasPrefix(r.Change, "would be an enum"):
		return r.Object + " enum"
	}
	return ""
}

// checkForetold compares the refusals with the expected ones. With a database at hand they are equal,
// with the numbers of rows. Without one, at least the expected ones are there.
func (c *chain) checkForetold(f *fate, refused []*diff.Refusal, exactly bool) {
	c.t.Helper()
	got := map[string]int64{}
	for _, r := range refused {
		if what := lossOf(r); what != "" {
			got[what] = r.Rows
		} else if exactly && r.Rows <= 0 {
			c.failf("refused, and no row speaks against it: %s %s", r.Object, r.Change)
		}
	}
	for what, count := range f.losses {
		if n, ok := got[what]; !ok || exactly && n != count {
			c.failf("%s: %d rows or values, and refused are %v", what, count, got)
		}
	}
	if exactly && len(got) > len(f.losses) {
		c.failf("refused are %v, and nothing is lost but %v", got, f.losses)
	}
	if len(refused) > 0 {
		c.total.add(func() { c.total.refused++ })
	}
}

// permit adds the permissions that refusals name. It returns why none helps.
func (c *chain) permit(refused []*diff.Refusal, options *install.Options, given map[string]bool) string {
	c.t.Helper()
	for _, r := range refused {
		switch {
		case r.Backfill != "" && !given[r.Backfill] && (r.Allow == "" || strings.HasPrefix(r.Allow, "require:")):
			table, column, _ := strings.Cut(r.Backfill, ".")
			t := c.db.Table(table)
			options.Backfills = append(options.Backfills, diff.Backfill{Table: table, Column: column, Value: c.s.aLiteral(t, t.Column(column))})
			given[r.Backfill] = true
		case r.Allow != "":
			options.Allow = append(options.Allow, r.Allow)
		case r.Backfill != "":
			c.failf("a value was given, and it is refused all the same: %s %s, %+v", r.Object, r.Change, options)
		default:
			return r.Object + " " + r.Change
		}
	}
	return ""
}

// checkAgain repeats the step, which must change nothing.
func (c *chain) checkAgain() {
	c.t.Helper()
	outcome, err := install.Install(c.t.Context(), c.owner, c.db)
	if err != nil || outcome.Changed || !outcome.Plan.IsEmpty() {
		c.failf("to do it again does something: %v, %+v", err, outcome.Plan)
	}
	if !c.files {
		return
	}
	folder, err := migrate.ReadFolder(c.project)
	if err != nil {
		c.failf("%v", err)
	}
	if _, err := migrate.New(folder, "again", c.db, migrate.PlanOptions{}); !errors.Is(err, migrate.ErrNothingChanged) {
		c.failf("migrate new has more to do: %v", err)
	}
	status, err := migrate.ReadStatus(c.t.Context(), folder, c.base.OwnerURL())
	if err != nil || !status.IsCurrent() {
		c.failf("migrate status: %v, %+v", err, status)
	}
}

// proofCatalog holds the installed objects.
func proofCatalog(t testing.TB, conn *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "select object, fact from platform.catalog()")
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]string{}
	var object, fact string
	if _, err := pgx.ForEachRow(rows, []any{&object, &fact}, func() error { facts[object] = fact; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(facts) < 100 {
		t.Fatalf("the catalog is nearly empty: %v", facts)
	}
	return facts
}

func catalogDifferences(got, want map[string]string) []string {
	var list []string
	for object, fact := range got {
		if want[object] != fact {
			list = append(list, fmt.Sprintf("%s\n  is         %s\n  and fresh  %s", object, fact, want[object]))
		}
	}
	for object, fact := range want {
		if _, there := got[object]; !there {
			list = append(list, fmt.Sprintf("%s is not there\n  and fresh  %s", object, fact))
		}
	}
	slices.Sort(list)
	return list
}

// checkMatrix compares the answers of the migrated database with those of a fresh one.
func (c *chain) checkMatrix(fresh *pgtest.DB) {
	conn, migrated := fresh.Superuser(c.t), c.base.Superuser(c.t)
	copyRows(c.t, migrated, conn, c.db.Database)
	calls := matrixOf(c.t, manifestOf(c.t, c.db))
	got, want := answersOf(c.t, migrated, calls), answersOf(c.t, conn, calls)
	for i, call := range calls {
		if got[i] != want[i] {
			c.failf("%s with %s is answered\n%s\nand by a fresh database\n%s", call.title, call.Body, got[i], want[i])
		}
		c.total.add(func() {
			c.total.calls++
			switch {
			case strings.Contains(got[i], "SP403"):
				c.total.denied++
			case strings.Contains(got[i], "PROOF") && got[i] != "PROOF null":
				c.total.allowed++
			}
		})
	}
	checkServing(c.t, c.owner)
}
