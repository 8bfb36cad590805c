package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// columnsFirst lets a table be named new or old: Postgres could not tell its columns from a trigger's rows. No column
// has the name of a variable, which begins with underscores.
const columnsFirst = "#variable_conflict use_column\n"

// keeper writes a function that keeps columns. It runs as the owner of the tables, who is not bound by row security:
// the kept values are about all rows.
func keeper(t *pg.Table, k *pg.Keeper) string {
	var steps []string
	if len(k.Events) == 1 {
		steps = stepsOf(t, k.Events[0])
	} else {
		steps = []string{alike(t, k.Events)}
	}
	variables, declared, set := variablesOf(k), "", ""
	if variables != "" {
		declared, set = columnsFirst+"declare\n"+variables, alwaysByIndex
	}
	body := "\n" + declared + "begin\n" + indented(strings.Join(steps, "\n\n"), 2) + "\n\n  return null;\nend;\n"
	does := "keeps " + strings.Join(k.Columns, ", ")
	if len(k.Columns) == 0 {
		does = "locks the rows that inserts beside those will change"
	}
	return comment(does) + "\n" +
		"create function " + pg.Qualified(t.Schema, k.Name) + "() returns trigger\nlanguage plpgsql\nvolatile\nsecurity definer\n" +
		"set search_path = pg_catalog, pg_temp\n" + set + "as " + pg.DollarQuote("", body) + ";"
}

// variablesOf declares what the steps of a keeper need.
func variablesOf(k *pg.Keeper) string {
	keeps, movesBeside, moves, held := false, false, 0, 0
	for _, e := range k.Events {
		held = max(held, len(e.Locks))
		for _, s := range e.Steps {
			if s, ok := s.(*pg.Keep); ok {
				keeps, moves = true, max(moves, len(s.Moved))
				movesBeside = movesBeside || len(s.Moved) > 0 && !movesOnly(s)
			}
		}
	}
	declared := ""
	if keeps {
		declared += "  __ids text[];\n"
	}
	if movesBeside {
		declared += "  __moved text[];\n"
	}
	for i := range moves {
		declared += fmt.Sprintf("  __by_%d numeric[];\n", i+1)
	}
	for i := range held {
		declared += fmt.Sprintf("  __held_%d text[];\n", i+1)
	}
	return declared
}

// stepsOf writes the steps of an event.
func stepsOf(t *pg.Table, k *pg.KeeperEvent) []string {
	var steps []string
	if k.Event != "truncate" && len(k.Steps) > 1 {
		steps = append(steps, "-- A statement that concerns no row calls its triggers too.\n"+
			"if not exists (select from "+writtenRows(k)+") then\n  return null;\nend if;")
	}
	if len(k.Locks) > 0 {
		steps = append(steps, locks(t, k))
	}
	for _, s := range k.Steps {
		switch s := s.(type) {
		case *pg.Keep:
			steps = append(steps, about(s)+found(t, k, s)+"\n"+kept(t, k, s))
		case *pg.Restart:
			steps = append(steps, restart(t, s))
		}
	}
	return steps
}

// alike writes the one step of events that write alike: how each event finds the rows, then what is written. Updates
// come last: each condition costs time, and theirs is the longest query.
func alike(t *pg.Table, events []*pg.KeeperEvent) string {
	event := func(name string) *pg.KeeperEvent {
		return events[slices.IndexFunc(events, func(k *pg.KeeperEvent) bool { return k.Event == name })]
	}
	finds := func(k *pg.KeeperEvent) string {
		text := found(t, k, k.Steps[0].(*pg.Keep))
		if len(k.Locks) > 0 {
			text = locks(t, k) + "\n\n" + text
		}
		return indented(text, 2)
	}
	inserted, updated := event("insert"), event("update")
	first := inserted.Steps[0].(*pg.Keep)
	return about(first) +
		"if tg_op = 'INSERT' then\n" + finds(inserted) + "\n" +
		"elsif tg_op = 'DELETE' then\n" + finds(event("delete")) + "\n" +
		"elsif tg_op = 'TRUNCATE' then\n" + indented(restart(t, event("truncate").Steps[0].(*pg.Restart)), 2) + "\n" +
		"else\n" + finds(updated) + "\nend if;\n\n" +
		kept(t, inserted, first)
}

// about is the comment that says what a step keeps.
func about(s *pg.Keep) string {
	return "-- " + s.Table + ": " + strings.Join(s.Columns(), ", ") + "\n"
}

// alwaysByIndex makes a session plan each statement once, and find rows by an index. A plan made for a statement that
// wrote many rows, or while a table was empty, would read the whole table for each single row after it. A plan for a
// given row looks cheaper than one for some rows, so Postgres would make it anew for each. It would compile a plan that
// was made for many rows at each call.
const alwaysByIndex = "set plan_cache_mode = force_generic_plan\nset enable_seqscan = off\nset jit = off\n"

// found finds the keys of the rows that a step keeps, and by how much their sums move.
func found(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep) string {
	if movesOnly(s) {
		return differences(t, k, s, "__ids")
	}
	return ids(t, k, s)
}

// kept keeps columns of the rows found, if there are any: its writes call triggers again. The rows are locked in the
// order of their ids, so that two statements which keep columns of the same rows wait for each other and never in a
// circle. A statement of its own locks them, so that the next one sees them as they are then. Rows of other tables that
// are read are locked likewise.
func kept(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep) string {
	target := pg.Qualified(t.Schema, s.Table)
	name := pg.Ident(s.Table)
	isFound := name + "." + pg.Ident(s.Match) + " = any (__ids)"
	lock := "perform 1 from " + target + " where " + isFound + " order by " + name + ".id for no key update;"
	if s.Source != "" {
		alias := pg.Ident(s.Source)
		strength := "for share"
		if s.IsBack { // two that shared a row would wait for each other to write it
			strength = "for no key update"
		}
		among := "(__ids)"
		if k.Event == "update" && !slices.Equal(s.Watched, []string{s.Link}) {
			// A row that still leads to the same one is found by the statements that change that one, and is locked.
			among = "(" + array(changedKeys(t, k, s.Key, []string{s.Link})) + ")"
		}
		lock = "perform 1 from " + pg.Qualified(t.Schema, s.Source) + "\nwhere " + alias + ".id in (select linking." + pg.Ident(s.Link) +
			" from " + target + " as linking where linking." + pg.Ident(s.Match) + " = any " + among + ")\norder by " + alias + ".id " + strength + ";"
	}
	if s.Through != "" {
		// A statement that changes how rows of Table lead there has locked it too.
		through := pg.Ident(s.Through)
		lock = "perform 1 from " + pg.Qualified(t.Schema, s.Through) + " where " + through + ".id = any (__ids) order by " + through + ".id for no key update;\n" + lock
	}
	comparesOnly := k.Event == "insert" || len(s.Extremes) == 0
	if len(s.Read) == 0 && comparesOnly {
		// A single row waits in the update, which adds to the row's value at that time.
		lock = "if cardinality(__ids) > 1 then\n" + indented(lock, 2) + "\nend if;"
	}
	parts := []string{lock}
	switch {
	case movesOnly(s):
		parts = append(parts, moving(t, s, "__ids"))
	case len(s.Moved) > 0:
		parts = append(parts, differences(t, k, s, "__moved"), moving(t, s, "__moved"))
	}
	if len(s.Extremes) > 0 && k.Event == "insert" {
		parts = append(parts, raising(t, s, isFound))
	}
	if len(s.Read) > 0 || !comparesOnly {
		parts = append(parts, reading(t, k, s, isFound))
	}
	areFound := "cardinality(__ids) > 0"
	if movesOnly(s) {
		areFound = "__ids is not null"
	}
	return "if " + areFound + " then\n" + indented(strings.Join(parts, "\n"), 2) + "\nend if;"
}

// locks locks the rows that all steps concern, before the first one writes: table after table, and the rows of each in
// the order of their ids.
func locks(t *pg.Table, k *pg.KeeperEvent) string {
	held := map[string]string{}
	var parts []string
	for i, lock := range k.Locks {
		variable := fmt.Sprintf("__held_%d", i+1)
		var ways []string
		for _, w := range lock.Ways {
			ways = append(ways, way(t, k, lock, w, held[w.From]))
		}
		found := strings.Join(ways, "\nunion\n")
		if !lock.IsHeld {
			name := pg.Ident(lock.Table)
			found = "select " + name + ".id\nfrom " + pg.Qualified(t.Schema, lock.Table) + "\nwhere " + name + ".id = any (" +
				array(found) + ")\norder by " + name + ".id\nfor " + lock.Strength
		}
		parts = append(parts, variable+" := "+array(found)+";")
		held[lock.Table] = variable
	}
	text := strings.Join(parts, "\n")
	switch {
	case k.IfSeveral:
		text = "if (" + concerned(t, k) + ") > 1 then\n" + indented(text, 2) + "\nend if;"
	case k.Event == "update":
		text = "if (" + concerned(t, k) + ") > 0 then\n" + indented(text, 2) + "\nend if;"
	}
	return "-- All rows are locked before any is written, in the one order of the tables.\n" + text
}

// way finds the ids of rows of a table to which a way leads; held is the variable with the ids of the rows where it
// begins.
func way(t *pg.Table, k *pg.KeeperEvent, lock *pg.Lock, w *pg.Way, held string) string {
	linking := func(table, column, match, among string) string {
		return "select linking." + pg.Ident(column) + " from " + pg.Qualified(t.Schema, table) + " as linking where linking." + pg.Ident(match) +
			" = any (" + among + ")"
	}
	array := func(query string) string { return "array(\n" + indented(query, 2) + "\n)" } // its line has begun long before
	keys, among := "", held
	switch {
	case w.IsChanged:
		keys = changedKeys(t, k, w.Key, w.Watched)
	case w.IsMoved:
		keys = linking(w.From, w.Key, "id", array(changedKeys(t, k, "id", w.Watched)))
	case w.Key != "id":
		keys = linking(w.From, w.Key, "id", held)
	}
	if w.Match == "id" {
		return keys
	}
	if keys != "" {
		among = array(keys)
	}
	return linking(lock.Table, "id", w.Match, among)
}

// concerned counts the rows with a change that any step watches. A row that the statement moves counts twice.
func concerned(t *pg.Table, k *pg.KeeperEvent) string {
	if k.Event != "update" {
		return "select count(*) from " + writtenRows(k)
	}
	keys, watched := []string{"id"}, []string{}
	for _, s := range k.Steps {
		if s, ok := s.(*pg.Keep); ok {
			keys = append(keys, s.Key)
			watched = append(watched, s.Watched...)
		}
	}
	keys = once(keys)
	rows := changed(t, columnsOf(t.Name, once(slices.Concat(keys, watched))))
	return "\n  select count(distinct (" + strings.Join(columnsOf("changed", keys), ", ") + "))\n  from (\n" + indented(rows, 4) + "\n  ) as changed\n"
}

// columnsOf writes columns of a table or alias.
func columnsOf(table string, columns []string) []string {
	var list []string
	for _, c := range columns {
		list = append(list, pg.Ident(table)+"."+pg.Ident(c))
	}
	return list
}

// once returns a list without repeated elements.
func once(list []string) []string {
	var first []string
	for _, s := range list {
		if !slices.Contains(first, s) {
			first = append(first, s)
		}
	}
	return first
}

// ids finds the keys of rows with a change that a step watches.
func ids(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep) string {
	return "__ids := " + array(changedKeys(t, k, s.Key, s.Watched)) + ";"
}

// array writes the array of what a query finds: on its line if that is short.
func array(query string) string {
	if len(query) < 60 && !strings.Contains(query, "\n") {
		return "array(" + query + ")"
	}
	return "array(\n" + indented(query, 2) + "\n)"
}

// changedKeys selects the values of a column of rows with a change in any of the watched ones.
func changedKeys(t *pg.Table, k *pg.KeeperEvent, key string, watched []string) string {
	name := pg.Ident(t.Name) + "." + pg.Ident(key)
	switch {
	case k.Event != "update" && key == "id":
		return "select " + name + " from " + writtenRows(k) + " as " + pg.Ident(t.Name)
	case k.Event != "update":
		return "select distinct " + name + "\nfrom " + writtenRows(k) + " as " + pg.Ident(t.Name) + isGiven(t, key, name)
	}
	columns := []string{name + " as key"}
	for _, w := range watched {
		if w != key {
			columns = append(columns, pg.Ident(t.Name)+"."+pg.Ident(w))
		}
	}
	return "select distinct changed.key\nfrom (\n" + indented(changed(t, columns), 2) + "\n) as changed" + isGiven(t, key, "changed.key")
}

// isGiven leaves out the rows without a key, which lead to no other row.
func isGiven(t *pg.Table, key, name string) string {
	if t.Column(key).NotNull {
		return ""
	}
	return "\nwhere " + name + " is not null"
}

// writtenRows are the rows of an event that writes each row once.
func writtenRows(k *pg.KeeperEvent) string {
	if k.Event == "delete" {
		return "old_rows"
	}
	return "new_rows"
}

// changed selects the rows of an update whose selected columns have changed, as they were and as they are, under the
// name of the table.
func changed(t *pg.Table, columns []string) string {
	from := func(rows string) string {
		return "select" + listed(columns, 2) + "\nfrom " + rows + " as " + pg.Ident(t.Name)
	}
	except := func(rows, others string) string {
		return "(\n" + indented(from(rows)+"\nexcept all\n"+from(others), 2) + "\n)"
	}
	return except("new_rows", "old_rows") + "\nunion all\n" + except("old_rows", "new_rows")
}

// movesOnly tells whether a step only moves sums.
func movesOnly(s *pg.Keep) bool { return len(s.Moved) > 0 && len(s.Extremes) == 0 && len(s.Read) == 0 }

// differences finds the amounts by which sums move, and the keys of those that do. Arrays hold them; a plan assumes
// that arrays are short, and finds the rows by their keys.
func differences(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep, keys string) string {
	held, into, moves := []string{"array_agg(moved.key)"}, []string{keys}, []string{}
	for i := range s.Moved {
		by := fmt.Sprintf("by_%d", i+1)
		held = append(held, "array_agg(moved."+by+")")
		into = append(into, "__"+by)
		moves = append(moves, "moved."+by+" <> 0")
	}
	return `select` + listed(held, 2) + `
into` + listed(into, 2) + `
from (
` + indented(amounts(t, k, s), 2) + `
) as moved
where ` + strings.Join(moves, "\n  or ") + `;`
}

// amounts adds up for each key what the sums gain by new rows and lose by rows that are gone.
func amounts(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep) string {
	name := pg.Ident(t.Name)
	key := name + "." + pg.Ident(s.Key)
	if k.Event != "update" {
		list := []string{key + " as key"}
		for i, c := range s.Moved {
			var sum pg.Expr = pg.Fn("sum", c.By)
			if k.Event == "delete" {
				sum = &pg.Minus{Operand: sum}
			}
			list = append(list, laidOut(sum, fmt.Sprintf(" as by_%d", i+1), 10))
		}
		return "select" + listedLines(list, 2) + "\nfrom " + writtenRows(k) + " as " + name + isGiven(t, s.Key, key) + "\ngroup by " + key
	}
	sums, gained, lost := []string{"changed.key"}, []string{key + " as key"}, []string{key}
	for i, c := range s.Moved {
		by := fmt.Sprintf("by_%d", i+1)
		sums = append(sums, "sum(changed."+by+") as "+by)
		gained = append(gained, laidOut(c.By, " as "+by, 12))
		lost = append(lost, laidOut(&pg.Minus{Operand: c.By}, "", 12))
	}
	return "select" + listed(sums, 2) + "\nfrom (\n" +
		indented("select"+listedLines(gained, 2)+"\nfrom new_rows as "+name+"\nunion all\nselect"+listedLines(lost, 2)+"\nfrom old_rows as "+name, 2) +
		"\n) as changed" + isGiven(t, s.Key, "changed.key") + "\ngroup by changed.key"
}

// moving moves sums by the differences found.
func moving(t *pg.Table, s *pg.Keep, keys string) string {
	name, moved := pg.Ident(s.Table), besides("moved", s.Table)
	arrays, columns, sets := []string{keys}, []string{"key"}, []string{}
	for i, c := range s.Moved {
		by := fmt.Sprintf("by_%d", i+1)
		arrays, columns = append(arrays, "__"+by), append(columns, by)
		value := name + "." + pg.Ident(c.Column) + " + " + moved + "." + by
		if c.IsNumber {
			value = "platform.number(" + value + ")"
		}
		sets = append(sets, pg.Ident(c.Column)+" = "+value)
	}
	return `update ` + pg.Qualified(t.Schema, s.Table) + `
set` + listed(sets, 2) + `
from unnest` + inBrackets(arrays) + ` as ` + moved + ` ` + inBrackets(columns) + `
where ` + name + `.` + pg.Ident(s.Match) + ` = ` + moved + `.key;`
}

// raising compares least and greatest values with those of new rows: as they are now, since
// they may have changed since they were inserted.
func raising(t *pg.Table, s *pg.Keep, found string) string {
	name, moved := pg.Ident(s.Table), besides("moved", s.Table)
	list := []string{pg.Ident(t.Name) + "." + pg.Ident(s.Key) + " as key"}
	var sets, moves []string
	for i, c := range s.Extremes {
		now := fmt.Sprintf("now_%d", i+1)
		list = append(list, aggregate(c)+"("+Expr(c.Of)+") as "+now)
	}
	for i, c := range s.Extremes {
		column, now := pg.Ident(c.Column), fmt.Sprintf("%s.now_%d", moved, i+1)
		sets = append(sets, column+" = "+comparison(c)+"("+name+"."+column+", "+now+")")
		moves = append(moves, "("+now+" "+beyond(c)+" "+name+"."+column+") is not false and "+now+" is not null")
	}
	return `update ` + pg.Qualified(t.Schema, s.Table) + `
set` + listed(sets, 2) + `
from (
  select` + listed(list, 4) + `
` + indented(liveRows(t), 2) + `
  group by ` + pg.Ident(t.Name) + "." + pg.Ident(s.Key) + `
) as ` + moved + `
where ` + found + `
  and ` + name + `.` + pg.Ident(s.Match) + ` = ` + moved + `.key
  and (` + either(moves) + `);`
}

// liveRows are the new rows that still exist. Each is looked up by itself: a plan that joins them, made for a statement
// that wrote many, would read the whole table for each single row that the session writes after that.
func liveRows(t *pg.Table) string {
	return `from new_rows
cross join lateral (
  select * from ` + pg.Qualified(t.Schema, t.Name) + ` as live where live.id = new_rows.id offset 0
) as ` + pg.Ident(t.Name)
}

// reading reads columns anew. It reads a least or greatest value anew if a row that had it has lost it, and no other
// written row has reached it.
func reading(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep, found string) string {
	target := pg.Qualified(t.Schema, s.Table)
	name, source, moved := pg.Ident(s.Table), besides("source", s.Table), besides("moved", s.Table)
	var values, sets, differ []string
	add := func(column, named string) {
		column = pg.Ident(column)
		values = append(values, named)
		sets = append(sets, column+" = "+source+"."+column)
		differ = append(differ, name+"."+column+" is distinct from "+source+"."+column)
	}
	from := target
	if k.Event != "insert" && len(s.Extremes) > 0 {
		from += "\nleft join (\n" + indented(wasAndNow(t, k, s), 2) + "\n) as " + moved + " on " + moved + ".key = " + name + "." + pg.Ident(s.Match)
		for i, c := range s.Extremes {
			stored := name + "." + pg.Ident(c.Column)
			was, now := fmt.Sprintf("%s.was_%d", moved, i+1), fmt.Sprintf("%s.now_%d", moved, i+1)
			reached := func(value string) string { return "(" + value + " " + beyond(c) + "= " + stored + ")" }
			condition, other := was+" "+beyond(c)+"= "+stored, stored
			if k.Event == "update" {
				condition += " and " + reached(now) + " is not true"
				other = comparison(c) + "(" + stored + ", " + now + ")"
			}
			add(c.Column, "case\n  when "+condition+"\n    then "+Expr(c.Whole)+"\n  else "+other+"\nend as "+pg.Ident(c.Column))
		}
	}
	for _, c := range s.Read {
		add(c.Column, laidOut(c.Value, " as "+pg.Ident(c.Column), 8))
	}
	return `update ` + target + `
set` + listed(sets, 2) + `
from (
  select` + listedLines(append([]string{name + ".id"}, values...), 4) + `
` + indented("from "+from, 2) + `
  where ` + found + `
  offset 0 -- or each value would be read twice, to compare it and to set it
) as ` + source + `
where ` + name + `.id = ` + source + `.id
  and (` + either(differ) + `);`
}

// wasAndNow selects, for each key, the least or greatest values of rows as they were and of those that exist now.
func wasAndNow(t *pg.Table, k *pg.KeeperEvent, s *pg.Keep) string {
	own := pg.Ident(t.Name)
	key := own + "." + pg.Ident(s.Key)
	before, after, both := []string{key + " as key"}, []string{key}, []string{"changed.key"}
	for i, c := range s.Extremes {
		was, now := fmt.Sprintf("was_%d", i+1), fmt.Sprintf("now_%d", i+1)
		both = append(both, aggregate(c)+"(changed."+was+") as "+was)
		before = append(before, Expr(c.Of)+" as "+was)
		if k.Event == "update" {
			both = append(both, aggregate(c)+"(changed."+now+") as "+now)
			before = append(before, "null as "+now)
			after = append(after, "null", Expr(c.Of))
		}
	}
	rows := "select" + listed(before, 2) + "\nfrom old_rows as " + own
	if k.Event == "update" {
		rows += "\nunion all\nselect" + listed(after, 2) + "\n" + liveRows(t)
	}
	return "select" + listed(both, 2) + "\nfrom (\n" + indented(rows, 2) + "\n) as changed\ngroup by changed.key"
}

// aggregate is the function that finds the value of some rows.
func aggregate(c pg.Extreme) string { return lesser(c, "min", "max") }

// comparison is the function that finds the value of some values.
func comparison(c pg.Extreme) string { return lesser(c, "least", "greatest") }

// beyond is the operator between a value and another one that it replaces.
func beyond(c pg.Extreme) string { return lesser(c, "<", ">") }

func lesser(c pg.Extreme, least, greatest string) string {
	if c.IsGreatest {
		return greatest
	}
	return least
}

// laidOut writes an expression, with the text that follows it, on the lines that it takes at an indentation.
func laidOut(e pg.Expr, end string, by int) string {
	d := doc(cat(hard, group(expr(e, bindAny), end)))
	for range by / 2 {
		d = nest(d)
	}
	return strings.TrimSpace(strings.ReplaceAll(written(d), "\n"+strings.Repeat(" ", by), "\n"))
}

// listedLines is listed for items that may have several lines.
func listedLines(items []string, by int) string {
	for i, item := range items {
		items[i] = strings.ReplaceAll(item, "\n", "\n"+strings.Repeat(" ", by))
	}
	if !strings.Contains(strings.Join(items, ""), "\n") {
		return listed(items, by)
	}
	between := "\n" + strings.Repeat(" ", by)
	return between + strings.Join(items, ","+between)
}

// besides returns a name for rows that a statement reads beside a table.
func besides(name, table string) string {
	if name == table {
		return name + "_2"
	}
	return name
}

// restart is for a table that was emptied.
func restart(t *pg.Table, s *pg.Restart) string {
	var sets, differ []string
	for _, c := range s.Columns {
		column := pg.Ident(c.Column)
		sets = append(sets, column+" = "+Expr(c.Value))
		differ = append(differ, pg.Ident(s.Table)+"."+column+" is distinct from "+Expr(c.Value))
	}
	return "update " + pg.Qualified(t.Schema, s.Table) + "\nset" + listed(sets, 2) + "\nwhere " + strings.Join(differ, "\n  or ") + ";"
}

// guard writes the function that lets nothing but keepers write the kept columns.
func guard(t *pg.Table, g *pg.Guard) string {
	var starts, before, after []string
	for _, c := range g.Columns {
		if c.Value != nil {
			starts = append(starts, "    new."+pg.Ident(c.Column)+" := "+Expr(c.Value)+";")
		}
		before = append(before, "old."+pg.Ident(c.Column))
		after = append(after, "new."+pg.Ident(c.Column))
	}
	begin := "  "
	if starts != nil {
		begin = "  -- Rows that point to a new row, or to one with a new id, come after it.\n" +
			"  if tg_op = 'INSERT' or new.id is distinct from old.id then\n" + strings.Join(starts, "\n") + "\n  els"
	}
	return comment("lets only triggers write what they keep") + "\n" +
		"create function " + pg.Qualified(t.Schema, g.Name) + "() returns trigger\nlanguage plpgsql\nvolatile\nsecurity invoker\n" +
		"set search_path = pg_catalog, pg_temp\nas " + pg.DollarQuote("", "\nbegin\n"+begin+
		"if "+row(after)+" is distinct from "+row(before)+" then\n"+
		"    raise exception 'a computed column of % cannot be written', tg_table_name\n      using errcode = 'generated_always';\n"+
		"  end if;\n\n  return new;\nend;\n") + ";"
}

// row writes values in brackets, behind elsif.
func row(values []string) string { return strings.TrimSpace(indented(inBrackets(values), 2)) }

// inBrackets writes a list in brackets: on its line if it is short, else one item on each line.
func inBrackets(items []string) string {
	if line := "(" + strings.Join(items, ", ") + ")"; len(line) < 45 {
		return line
	}
	return "(\n  " + strings.Join(items, ",\n  ") + "\n)"
}

// tester writes the function that tests rules when all is written. Its trigger calls it only for rows for which a rule
// was false when a statement left them. It reads the rows as they are now: the last transaction to write a row waited
// for the others, so that state stays.
func tester(t *pg.Table, x *pg.Tester) string {
	var cases []string
	for _, r := range x.Rules {
		cases = append(cases, "    when "+Expr(&pg.Is{Value: r.Layout, Test: "false"})+" then "+pg.Quote(r.Name))
	}
	table := pg.Qualified(t.Schema, t.Name)
	return comment("tests rules over what is computed from other rows, when all rows are written") + "\n" +
		"create function " + pg.Qualified(t.Schema, x.Name) + "() returns trigger\nlanguage plpgsql\nvolatile\nsecurity definer\n" +
		"set search_path = pg_catalog, pg_temp\nas " + pg.DollarQuote("", "\n"+columnsFirst+"declare\n  __id text := new.id;\n  __broken text;\nbegin\n"+
		"  select case\n"+strings.Join(cases, "\n")+"\n  end\n  into __broken\n  from "+table+"\n  where "+pg.Ident(t.Name)+".id = __id;\n\n"+
		"  if __broken is not null then\n"+indented(raiseBroken(t, "__broken"), 4)+"\n  end if;\n\n  return null;\nend;\n") + ";"
}

// raiseBroken ends the transaction as a check of a table does; an expression is the check's name.
func raiseBroken(t *pg.Table, name string) string {
	return "raise exception 'a row of % breaks the rule %', " + pg.Quote(t.Name) + ", " + name + "\n  using errcode = 'check_violation', " +
		"schema = " + pg.Quote(t.Schema) + ", table = " + pg.Quote(t.Name) + ", constraint = " + name + ";"
}

// testRows writes the statement that tests a rule on the existing rows.
func testRows(t *pg.Table, rule *pg.Constraint) string {
	return "do " + pg.DollarQuote("", "\nbegin\n  if exists (select from "+pg.Qualified(t.Schema, t.Name)+" where ("+rule.Condition+") is false) then\n"+
		indented(raiseBroken(t, pg.Quote(rule.Name)), 4)+"\n  end if;\nend;\n") + ";"
}

// countRows writes the statement that counts the rows that break what a plan adds, and ends the transaction if there are
// any.
func countRows(r *diff.Refusal) string {
	return "do " + pg.DollarQuote("", "\ndeclare\n  v_rows bigint;\nbegin\n  select count(*) into v_rows from "+pg.Qualified("app", r.Table)+" where "+r.Condition+";\n"+
		"  if v_rows > 0 then\n    raise check_violation using\n"+
		"      message = "+pg.Quote(r.Object+" "+r.Change+" (")+" || v_rows || case v_rows when 1 then ' row' else ' rows' end || "+pg.Quote("): "+r.Reason)+",\n"+
		"      hint = 'Mend the rows and apply the migration again. Statements that mend them may be above this one.';\n  end if;\nend;\n") + ";"
}

// listed writes a list behind a word: on its line if it is short, else one item on each line.
func listed(items []string, by int) string {
	if line := " " + strings.Join(items, ", "); len(line) < 80 {
		return line
	}
	between := "\n" + strings.Repeat(" ", by)
	return between + strings.Join(items, ","+between)
}

// either writes alternatives inside the brackets of a condition: on its line if they are short, else each on one.
func either(alternatives []string) string {
	if line := strings.Join(alternatives, " or "); len(line) < 80 {
		return line
	}
	return "\n    " + strings.Join(alternatives, "\n    or ") + "\n  "
}

// indented moves lines to the right.
func indented(text string, by int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", by) + line
		}
	}
	return strings.Join(lines, "\n")
}
