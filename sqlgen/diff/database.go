// Package diff compares two databases and says what must change between them.
//
// In come two descriptions, the installed one and the freshly compiled one; out
// comes a Plan: typed steps in the order in which they must run, and the changes
// that it will not make. A description is plain text per object, so it can be
// kept as JSON beside the release it belongs to. Nothing here sees the schema
// language or prints SQL: package emit does.
package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Database describes a compiled database.
type Database struct {
	Platform  string      `json:"platform"` // digest of the hand-written functions it was compiled for
	Tables    []*Table    `json:"tables"`
	Views     []*View     `json:"views"`
	Policies  []*Policy   `json:"policies"`
	Grants    []*Grants   `json:"grants"`
	Code      []*CodeFile `json:"code,omitempty"`
	Functions []*Function `json:"functions"`
}

// Table describes a table in schema app.
type Table struct {
	Name        string        `json:"name"`
	Origin      string        `json:"origin"`
	Comment     string        `json:"comment,omitempty"`
	Columns     []*Column     `json:"columns"`
	Constraints []*Constraint `json:"constraints"`
	References  []*Constraint `json:"references,omitempty"`
	Indexes     []*Index      `json:"indexes,omitempty"`
	Triggers    []*Trigger    `json:"triggers,omitempty"`
	Text        string        `json:"-"` // the statement that makes it, without references, indexes and triggers
}

// Column describes a column.
type Column struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	NotNull bool   `json:"notNull,omitempty"`
	Default string `json:"default,omitempty"`
	Comment string `json:"comment,omitempty"`
	Sealed  string `json:"sealed,omitempty"` // Password or Secret
}

// Constraint describes a constraint by what stands behind its name.
type Constraint struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Columns    []string `json:"columns,omitempty"` // that it is about, where known
}

// Index describes an index by what stands behind its table's name.
type Index struct {
	Name    string `json:"name"`
	Unique  bool   `json:"unique,omitempty"`
	Keys    string `json:"keys"`
	Where   string `json:"where,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// Trigger describes a trigger by its whole statement.
type Trigger struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Objects that are replaced and never altered keep a digest of their text: it
// tells whether they changed, which is all that a later plan asks of them.

// View describes a view in schema related.
type View struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Text   string `json:"-"` // the statement that makes it
}

// Policy describes a row-security policy on a table in schema app.
type Policy struct {
	Table  string `json:"table"`
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Text   string `json:"-"` // the statement that makes it
}

// Grants describes what the caller role may do with a table in schema app.
type Grants struct {
	Table  string   `json:"table"`
	Digest string   `json:"digest"`
	Texts  []string `json:"-"` // the statements that give it
}

// CodeFile describes a file of the project's own SQL.
type CodeFile struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Text   string `json:"-"`
}

// Function describes a function in schema api.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // types
	Digest    string `json:"digest"`
	Title     string `json:"-"`
	Text      string `json:"-"` // the statement that makes it
	Comment   string `json:"-"`
}

// DigestOf returns the digest of the texts that make an object.
func DigestOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:12])
}
