package pg

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// descriptionFormat counts the forms that descriptions have had.
const descriptionFormat = 2

// ErrDescriptionFormat is returned for a description that an earlier or later version
// of Sternpost has written, in another form.
var ErrDescriptionFormat = errors.New("the description of the installed release has another form than this version of Sternpost writes")

// described is a description as it is kept.
type described struct {
	Format int `json:"format"`
	*Database
}

// Description writes the database as a release keeps it. Equal databases give equal
// bytes.
func (d *Database) Description() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(described{descriptionFormat, d}); err != nil {
		panic(fmt.Sprintf("pg: write a description: %v", err))
	}
	return bytes.TrimSpace(text.Bytes())
}

// ReadDescription reads what Description has written.
func ReadDescription(text []byte) (*Database, error) {
	d := described{Database: &Database{}}
	err := json.Unmarshal(text, &d)
	var malformed *json.SyntaxError
	switch {
	case errors.As(err, &malformed):
		return nil, fmt.Errorf("read a description: %w", err)
	case d.Format != descriptionFormat: // then the rest may not fit
		return nil, ErrDescriptionFormat
	case err != nil:
		return nil, fmt.Errorf("read a description: %w", err)
	}
	for _, t := range d.Tables {
		if t.Guard != nil {
			t.Functions = append(t.Functions, t.Guard)
		}
		t.Functions = append(t.Functions, t.Keepers...)
		t.Guard, t.Keepers = nil, nil
	}
	return d.Database, nil
}

// DigestOf returns the digest of the texts that make an object.
func DigestOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// Table returns the table of that name, or nil.
func (d *Database) Table(name string) *Table {
	return find(d.Tables, name, func(t *Table) string { return t.Name })
}

// View returns the view of that name, or nil.
func (d *Database) View(name string) *View {
	return find(d.Views, name, func(v *View) string { return v.Name })
}

// IsComputed tells whether the column's values are computed and never written.
func (c *Column) IsComputed() bool { return c.Generated != "" || c.Derived != "" }

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column {
	return find(t.Columns, name, func(c *Column) string { return c.Name })
}

// Numbered returns the columns that have a sequence of Postgres.
func (t *Table) Numbered() []*Column {
	var list []*Column
	for _, c := range t.Columns {
		if c.Sequence != nil && c.Sequence.Per == "" {
			list = append(list, c)
		}
	}
	return list
}

func find[T any](list []*T, name string, nameOf func(*T) string) *T {
	for _, item := range list {
		if nameOf(item) == name {
			return item
		}
	}
	return nil
}

// Types returns the types of the arguments, by which Postgres tells functions of one
// name apart.
func (f *Function) Types() string {
	types := make([]string, len(f.Arguments))
	for i, a := range f.Arguments {
		types[i] = a.Type
	}
	return strings.Join(types, ", ")
}
