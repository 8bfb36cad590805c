package call

import (
	"cmp"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/derive"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// readComputed completes a row that a variable holds as a write returns it: columns that triggers keep are right when
// the write has ended.
func (b *Builder) readComputed(row *pg.Variable) {
	var columns []pg.Output
	var into []pg.Target
	for _, f := range b.Model.Stored() {
		if value.IsComputedFromRows(f) && b.holds(row, f) {
			columns = append(columns, pg.Output{Value: pg.Col(b.Table, f.Column)})
			into = append(into, row.Field(f.Column))
		}
	}
	if columns == nil {
		return
	}
	b.Step("By now, triggers have computed the values that depend on other rows.", &pg.Query{Select: &pg.Select{
		Columns: columns, Into: into, From: pg.Ref(value.RelatedSchema, b.Table), Where: pg.Eq(pg.Col(b.Table, "id"), row.Field("id")),
	}})
}

// lockDeleted has a delete lock the rows to which it leads, if triggers concern those that it cascades to.
func (l *Lowering) lockDeleted(b *Builder, where pg.Expr) {
	r := l.NewReach()
	root := r.At(b.Model, "update", derive.LockWay{Ids: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Col(b.Table, "id")}}, From: pg.Ref(value.RelatedSchema, b.Table), Where: where,
	}}, Match: "id"})
	root.IsWhole = true
	if concerns, isTree := r.Cascade(b.Model); !concerns || !isTree || !r.Follow() {
		return
	}
	b.Step("All rows to which the delete leads are locked first, in the one order of the tables.", r.Statements(l.lockerOf(b))...)
}

// lockerOf is for actions, which have no right to lock rows by themselves.
func (l *Lowering) lockerOf(b *Builder) derive.Locker {
	return derive.Locker{
		Schema:   value.RelatedSchema,
		Variable: func(table string) *pg.Variable { return b.Variable("v_"+table+"_ids", "text[]", nil) },
		Lock: func(rows *derive.Reached, ids pg.Expr) pg.Statement {
			return &pg.Perform{Value: pg.Fn("platform.lock_rows", pg.Str(rows.Model.Table), pg.Str(rows.Strength), ids)}
		},
	}
}

// lockLinked has a create with nested rows lock the rows to which all of them lead: their triggers run one behind the
// other. It also has it lock the rows from which those of an array copy, if triggers write several of these: each row
// of the array locks its own when it is inserted.
func (c *creation) lockLinked(l *Lowering) {
	all, copies := l.NewReach(), l.NewReach()
	leading := 0
	for _, n := range c.inserted {
		leads := false
		for _, w := range n.level.Writes {
			to := w.Field.FKOf
			if to == nil {
				continue
			}
			ids := &pg.Select{Columns: []pg.Output{{Value: c.column(n.level, w.Field, n.rows)}}, From: n.rows.from, Joins: n.rows.joins}
			way := derive.LockWay{Match: "id", Ids: &pg.ArrayOf{Query: ids}}
			isCopied := func(p *derive.Part) bool { return p.Kind == derive.Copied && p.Link() == w.Field.Column }
			if slices.ContainsFunc(l.PartsOf(n.level.Model), isCopied) {
				all.At(to.Target, l.CopyStrength(n.level.Model, to.Target), way)
				if n.rows.from != nil && len(l.PartsOf(to.Target)) > 0 {
					copies.At(to.Target, l.CopyStrength(n.level.Model, to.Target), way)
				}
			}
			for _, s := range l.StepsOf(n.level.Model) {
				if s.Key == w.Field.Column && (s.Match == "id" || s.Via != nil) {
					leads = true
					all.Step(s, way)
				}
			}
		}
		if leads {
			leading++
		}
	}
	if leading < 2 || !all.Follow() {
		all = copies
	}
	if statements := all.Statements(l.lockerOf(c.b)); statements != nil {
		c.b.Step("Rows to which the new ones lead are locked first, in the one order of the tables.", statements...)
	}
}

// shareLinked has an update lock the rows to which it will move keys, before it locks its own. So it needs no turn; nor
// does it if the request gives no key.
func (l *Lowering) shareLinked(b *Builder, values pg.Expr) {
	links := slices.Clone(l.Links())
	slices.SortStableFunc(links, func(x, y derive.Link) int { return cmp.Compare(l.Rank(x.To), l.Rank(y.To)) })
	var statements []pg.Statement
	var needTurn []pg.Expr // the conditions under which another row's key moves
	moves := false
	for _, k := range links {
		for _, w := range value.Levels(b.Action).Writes {
			r, _ := l.ChangeOf(b.Model, w.Field.Column)
			if !(derive.Change{Reaching: r}).Moves(k) {
				continue
			}
			moves = true
			value := b.writtenValue(w, values, 0, value.InFunction)
			given := value.given
			if given == nil {
				given = pg.True()
			}
			if b.Model != k.Owner || w.Field.Column != k.Column || derive.ReadsRow(w) {
				needTurn = append(needTurn, given)
				continue
			}
			share := &pg.Perform{Value: pg.Fn("platform.lock_rows", pg.Str(k.To.Table), pg.Str("share"), &pg.Array{Elements: []pg.Expr{value.value}})}
			if value.given == nil {
				statements = append(statements, share)
			} else {
				statements = append(statements, pg.IfThen(value.given, share))
			}
		}
	}
	mayDoWithout := pg.Negate(pg.AnyOf(needTurn...))
	if !moves || pg.IsFalse(mayDoWithout) {
		return
	}
	statements = append(statements, &pg.Perform{Value: pg.Fn("pg_current_xact_id")})
	if len(needTurn) > 0 {
		statements = []pg.Statement{pg.IfThen(mayDoWithout, statements...)}
	}
	b.Step("Rows to which keys will lead are locked before the row itself. So the triggers need no turn for it.", statements...)
}
