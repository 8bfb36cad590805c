package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// columnsFirst lets a table be named new or old: Postgres could not tell its columns from a trigger's rows. No column
// has the name of a variable, which begins with underscores.
const columnsFirst = "#variable_conflict use_column\n"

// keeper writes a function that keeps columns. It runs as the owner of the tables, who is not bound by row security:
// the kept values are about all rows.
func keeper(t *pg.Table, k *pg.Keeper) string {
	var steps []string
	keeps, moves, movesBeside := false, 0, false
	for _, s := range k.Steps {
		switch s := s.(type) {
		case *pg.Keep:
			steps = append(steps, keep(t, k, s))
			keeps, moves = true, max(moves, len(s.Moved))
			movesBeside = movesBeside || len(s.Moved) > 0 && !movesOnly(s)
		case *pg.Restart:
			steps = append(steps, restart(t, s))
		}
	}
	declared, set := "", ""
	if keeps || len(k.Locks) > 0 {
		declared, set = columnsFirst+"declare\n", alwaysByIndex
	}
	if keeps {
		declared += "  __ids text[];\n"
	}
	if movesBeside {
		declared += "  __moved text[];\n"
	}
	for i := range moves {
		declared += fmt.Sprintf("  __by_%d numeric[];\n", i+1)
	}
	if len(k.Locks) > 0 {
		steps = append([]string{locks(t, k)}, steps...)
		for i := range k.Locks {
			declared += fmt.Sprintf("  __held_%d text[];\n", i+1)
		}
	}
	if k.Event != "truncate" && len(k.Steps) > 1 {
		rows := "new_rows"
		if k.Event == "delete" {
			rows = "old_rows"
		}
		steps = append([]string{"  -- A statement that concerns no row calls its triggers too.\n" +
			"  if not exists (select from " + rows + ") then\n    return null;\n  end if;"}, steps...)
	}
	body := declared + "begin\n" + strings.Join(steps, "\n\n") + "\n\n  return null;\nend;\n"
	does := "keeps " + strings.Join(k.Columns, ", ")
	if len(k.Columns) == 0 {
		does = "locks the rows that inserts beside those will change"
	}
	return comment(does) + "\n" +
		"create function " + pg.Qualified(t.Schema, k.Name) + "() returns trigger\nlanguage plpgsql\nvolatile\nsecurity definer\n" +
		"set search_path = pg_catalog, pg_temp\n" + set + "as " + pg.DollarQuote("", "\n"+body) + ";"
}

// alwaysByIndex makes a session plan each statement once, and find rows by an index. A plan made for a statement that
// wrote many rows, or while a table was empty, would read the whole table for each single row after it. A plan for a
// given row looks cheaper than one for some rows, so Postgres would make it anew for each. It would compile a plan that
// was made for many rows at each call.
const alwaysByIndex = "set plan_cache_mode = force_generic_plan\nset enable_seqscan = off\nset jit = off\n"

// keep keeps columns of some rows, if any exist: its writes call triggers again. The rows are locked in the order of
// their ids, so that two statements which keep columns of the same rows wait for each other and never in a circle. A
// statement of its own locks them, so that the next one sees them as they are then. Rows of other tables that are read
// are locked likewise.
func keep(t *pg.Table, k *pg.Keeper, s *pg.Keep) string {
	target := pg.Qualified(t.Schema, s.Table)
	name := pg.Ident(s.Table)
	found := name + "." + pg.Ident(s.Match) + " = any (__ids)"
	lock := "perform 1 from " + target + " where " + found + " order by " + name + ".id for no key update;"
	if s.Source != "" {
		alias := pg.Ident(s.Source)
		strength := "for share"
		if s.IsBack { // two that shared a row would wait for each other to write it
			strength = "for no key update"
		}
		among := "(__ids)"
		if k.Event == "update" && !slices.Equal(s.Watched, []string{s.Link}) {
			// A row that still leads to the same one is found by the statements that change that one, and is locked.
			among = "(array(\n" + indented(changedKeys(t, k, s.Key, []string{s.Link}), 2) + "\n))"
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
	find := ids(t, k, s)
	switch {
	case movesOnly(s):
		find = differences(t, k, s, "__ids")
		parts = append(parts, moving(t, s, "__ids"))
	case len(s.Moved) > 0:
		parts = append(parts, differences(t, k, s, "__moved"), moving(t, s, "__moved"))
	}
	if len(s.Extremes) > 0 && k.Event == "insert" {
		parts = append(parts, raising(t, s, found))
	}
	if len(s.Read) > 0 || !comparesOnly {
		parts = append(parts, reading(t, k, s, found))
	}
	return indented(`-- `+s.Table+`: `+strings.Join(s.Columns(), ", ")+`
`+find+`
if cardinality(__ids) > 0 then
`+indented(strings.Join(parts, "\n"), 2)+`
end if;`, 2)
}

// locks locks the rows that all steps concern, before the first one writes: table after table, and the rows of each in
// the order of their ids.
func locks(t *pg.Table, k *pg.Keeper) string {
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
			found = "select " + name + ".id\nfrom " + pg.Qualified(t.Schema, lock.Table) + "\nwhere " + name + ".id = any (array(\n" +
				indented(found, 2) + "\n))\norder by " + name + ".id\nfor " + lock.Strength
		}
		parts = append(parts, variable+" := array(\n"+indented(found, 2)+"\n);")
		held[lock.Table] = variable
	}
	text := strings.Join(parts, "\n")
	switch {
	case k.IfSeveral:
		text = "if (" + concerned(t, k) + ") > 1 then\n" + indented(text, 2) + "\nend if;"
	case k.Event == "update":
		text = "if (" + concerned(t, k) + ") > 0 then\n" + indented(text, 2) + "\nend if;"
	}
	return indented("-- All rows are locked before any is written, in the one order of the tables.\n"+text, 2)
}

// way finds the ids of rows of a table to which a way leads; held is the variable with the ids of the rows where it
// begins.
func way(t *pg.Table, k *pg.Keeper, lock *pg.Lock, w *pg.Way, held string) string {
	linking := func(table, column, match, among string) string {
		return "select linking." + pg.Ident(column) + " from " + pg.Qualified(t.Schema, table) + " as linking where linking." + pg.Ident(match) +
			" = any (" + among + ")"
	}
	array := func(query string) string { return "array(\n" + indented(query, 2) + "\n)" }
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
func concerned(t *pg.Table, k *pg.Keeper) string {
	switch k.Event {
	case "insert":
		return "select count(*) from new_rows"
	case "delete":
		return "select count(*) from old_rows"
	}
	keys, watched := []string{"id"}, []string{}
	for _, s := range k.Steps {
		if s, ok := s.(*pg.Keep); ok {
			keys = append(keys, s.Key)
			watched = append(watched, s.Watched...)
		}
	}
	keys = once(keys)
	rows := changed(t, k, func(string) []string { return columnsOf(t.Name, once(slices.Concat(keys, watched))) })
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
func ids(t *pg.Table, k *pg.Keeper, s *pg.Keep) string {
	return "__ids := array(\n" + indented(changedKeys(t, k, s.Key, s.Watched), 2) + "\n);"
}

// changedKeys selects the values of a column of rows with a change in any of the watched ones.
func changedKeys(t *pg.Table, k *pg.Keeper, key string, watched []string) string {
	return `select distinct changed.key
from (
` + indented(changed(t, k, func(sign string) []string {
		list := []string{pg.Ident(t.Name) + "." + pg.Ident(key) + " as key"}
		for _, w := range watched {
			if w != key && k.Event == "update" {
				list = append(list, pg.Ident(t.Name)+"."+pg.Ident(w))
			}
		}
		return list
	}), 2) + `
) as changed
where changed.key is not null`
}

// changed selects the rows of a statement, each under the name of its table. For an update these are the rows whose
// selected columns have changed, as they were and as they are. Rows that are gone have a minus for a sign.
func changed(t *pg.Table, k *pg.Keeper, columns func(sign string) []string) string {
	from := func(rows, sign string) string {
		return "select" + listed(columns(sign), 2) + "\nfrom " + rows + " as " + pg.Ident(t.Name)
	}
	switch k.Event {
	case "insert":
		return from("new_rows", "")
	case "delete":
		return from("old_rows", "-")
	}
	except := func(rows, others, sign string) string {
		return "(\n" + indented(from(rows, sign)+"\nexcept all\n"+from(others, sign), 2) + "\n)"
	}
	return except("new_rows", "old_rows", "") + "\nunion all\n" + except("old_rows", "new_rows", "-")
}

// movesOnly tells whether a step only moves sums.
func movesOnly(s *pg.Keep) bool { return len(s.Moved) > 0 && len(s.Extremes) == 0 && len(s.Read) == 0 }

// differences finds the amounts by which sums move, and the keys of those that do. Arrays hold them; a plan assumes
// that arrays are short, and finds the rows by their keys.
func differences(t *pg.Table, k *pg.Keeper, s *pg.Keep, keys string) string {
	rows := changed(t, k, func(sign string) []string {
		list := []string{pg.Ident(t.Name) + "." + pg.Ident(s.Key) + " as key"}
		for i, c := range s.Moved {
			by := Expr(c.By)
			if sign != "" {
				by = Expr(&pg.Minus{Operand: c.By})
			}
			list = append(list, fmt.Sprintf("%s as by_%d", by, i+1))
		}
		return list
	})
	held, into, sums, moves := []string{"array_agg(moved.key)"}, []string{keys}, []string{"changed.key"}, []string{}
	for i := range s.Moved {
		by := fmt.Sprintf("by_%d", i+1)
		held = append(held, "array_agg(moved."+by+")")
		into = append(into, "__"+by)
		sums = append(sums, "sum(changed."+by+") as "+by)
		moves = append(moves, "moved."+by+" <> 0")
	}
	return `select` + listed(held, 2) + `
into` + listed(into, 2) + `
from (
  select` + listed(sums, 4) + `
  from (
` + indented(rows, 4) + `
  ) as changed
  where changed.key is not null
  group by changed.key
) as moved
where ` + strings.Join(moves, "\n  or ") + `;`
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
func reading(t *pg.Table, k *pg.Keeper, s *pg.Keep, found string) string {
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
func wasAndNow(t *pg.Table, k *pg.Keeper, s *pg.Keep) string {
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
	return indented("update "+pg.Qualified(t.Schema, s.Table)+"\nset"+listed(sets, 2)+"\nwhere "+strings.Join(differ, "\n  or ")+";", 2)
}

// guard writes the function that lets nothing but keepers write the kept columns.
func guard(t *pg.Table, g *pg.Guard) string {
	var starts, before, after []string
	for _, c := range g.Columns {
		starts = append(starts, "    new."+pg.Ident(c.Column)+" := "+Expr(c.Value)+";")
		before = append(before, "old."+pg.Ident(c.Column))
		after = append(after, "new."+pg.Ident(c.Column))
	}
	return comment("lets only triggers write what they keep") + "\n" +
		"create function " + pg.Qualified(t.Schema, g.Name) + "() returns trigger\nlanguage plpgsql\nvolatile\nsecurity invoker\n" +
		"set search_path = pg_catalog, pg_temp\nas " + pg.DollarQuote("", "\nbegin\n"+
		"  -- Rows that point to a new row, or to one with a new id, come after it.\n"+
		"  if tg_op = 'INSERT' or new.id is distinct from old.id then\n"+strings.Join(starts, "\n")+"\n"+
		"  elsif "+row(after)+" is distinct from "+row(before)+" then\n"+
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
