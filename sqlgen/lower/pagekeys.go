package lower

import "github.com/sternpost/sternpost/sqlgen/pg"

// pageKeys are what the cursors of a page are made of: the values that its records are
// ordered by, as they go over the wire, gathered with the records. That costs a tenth
// of looking them up again by id.
type pageKeys struct {
	*builder
	keys []sortKey
	ids  pg.Expr // the variable that holds the ids of the page

	// gathered are variables, one for each key; that of the id is ids. Nil means that
	// the records do not show all keys, and rows are looked up: a record does not show
	// a foreign key where it embeds the row.
	gathered []pg.Expr
}

// pageKeys declares the variables for the keys of a list.
func (b *builder) pageKeys(keys []sortKey, ids pg.Expr) pageKeys {
	k := pageKeys{builder: b, keys: keys, ids: ids}
	shown := map[string]bool{}
	for _, member := range b.record() {
		shown[member.As] = true
	}
	for _, key := range keys {
		if !shown[key.field.Name] {
			return k
		}
	}
	for _, key := range keys {
		variable := ids
		if key.field.Name != "id" {
			variable = b.variableFor("page_"+key.field.Column, wireType(key.field.Type.Kind)+"[]", nil)
		}
		k.gathered = append(k.gathered, variable)
	}
	return k
}

// values gather the keys but for the id, from the query that makes the records.
func (k pageKeys) values() []pg.Output {
	var values []pg.Output
	for i, variable := range k.gathered {
		if variable != k.ids {
			values = append(values, pg.Output{Value: pg.Fn("array_agg", k.recordMember(k.keys[i].field.Name))})
		}
	}
	return values
}

// names are the names of the variables that take values.
func (k pageKeys) names() []string {
	var names []string
	for _, variable := range k.gathered {
		if variable != k.ids {
			names = append(names, variable.(*pg.Name).Name)
		}
	}
	return names
}

// cursor is the cursor of a row: of the record at a place, with the id at one.
func (k pageKeys) cursor(record, id pg.Expr) pg.Expr {
	if k.gathered == nil {
		return cursor(k.action, k.keys, &pg.Element{Array: k.ids, Index: id})
	}
	values := []pg.Expr{pg.Lit("1"), pg.Str(mark(k.action, k.keys))}
	for _, variable := range k.gathered {
		place := record
		if variable == k.ids {
			place = id
		}
		values = append(values, &pg.Element{Array: variable, Index: place})
	}
	return pg.Fn("platform.list_cursor", pg.Fn("json_build_array", values...))
}

// recordMember is a member of the record that a query has made.
func (b *builder) recordMember(name string) pg.Expr {
	return pg.Lit(b.recordAlias() + `."` + name + `"`)
}
