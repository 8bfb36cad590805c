package lsp

import (
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// inlayHints answers with the types of the columns that the fields in a range have, as
// sternpost build prints them: of the project as it is, or as it was when it compiled.
func (v *view) inlayHints(p rangeParams) ([]inlayHint, error) {
	hints := []inlayHint{}
	start, end := v.lines.offset(p.Range.Start), v.lines.offset(p.Range.End)
	c := v.server.compile(v.project.key, v.sources)
	if c.sound == nil {
		return hints, nil
	}
	for _, d := range v.file.Decls {
		m, ok := d.(*syntax.Model)
		if !ok {
			continue
		}
		for _, f := range syntax.FieldsOf(m.Members) {
			at := fieldHead(f).End.Offset
			if at < start || at > end {
				continue
			}
			if table, column := columnOf(c.sound, m.Name.Name, f.Name.Name); column != nil {
				hints = append(hints, inlayHint{
					Position:    v.lines.position(at),
					Label:       column.Type,
					Kind:        1, // a type
					PaddingLeft: true,
					Tooltip:     "Column " + pg.Qualified(table.Schema, table.Name) + "." + pg.Ident(column.Name),
				})
			}
		}
	}
	return hints, nil
}

// columnOf returns the column of a field, nil if it has none.
func columnOf(c *sqlgen.Compiled, modelName, field string) (*pg.Table, *pg.Column) {
	if m := modelNamed(c, modelName); m != nil {
		if f := m.Field(field); f != nil && f.Column != "" {
			table := c.Database.Table(m.Table)
			return table, table.Column(f.Column)
		}
	}
	return nil, nil
}
