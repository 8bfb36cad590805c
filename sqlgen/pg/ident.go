package pg

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxIdent is the longest identifier that Postgres keeps, in bytes.
const MaxIdent = 63

// Ident writes an identifier, in quotes only where Postgres needs them: for
// anything but lower-case letters, digits and _, and for keywords that cannot
// name a column or table (Postgres manual, appendix C).
func Ident(name string) string {
	if isPlain(name) && !reserved[name] {
		return name
	}
	return QuoteIdent(name)
}

// ParamIdent writes the name of a parameter. Keywords that name types or functions of their own cannot be parameters
// either.
func ParamIdent(name string) string {
	if isPlain(name) && !reserved[name] && !special[name] {
		return name
	}
	return QuoteIdent(name)
}

// QuoteIdent writes an identifier in quotes.
func QuoteIdent(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Qualified writes schema.name.
func Qualified(schema, name string) string {
	return Ident(schema) + "." + Ident(name)
}

// Quote writes a text literal. A literal with a backslash takes the E form, so that it means the same for each value of
// standard_conforming_strings; so does one with text that a reader of files would interpret (see IsPlainText).
func Quote(value string) string {
	quoted := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	if strings.Contains(value, `\`) || !IsPlainText(value) {
		return "E" + escapes.Replace(quoted)
	}
	return quoted
}

// DollarQuote writes text between dollar quotes whose tag does not occur in it, or as a literal if it is not plain.
func DollarQuote(tag, text string) string {
	if !IsPlainText(text) {
		return Quote(text)
	}
	for strings.Contains(text, "$"+tag+"$") || strings.HasSuffix(text, "$"+tag) {
		tag += "_"
	}
	return "$" + tag + "$" + text + "$" + tag + "$"
}

// escapes are the marks that tern reads in a migration, even inside of literals: the beginning of a template's action,
// the line between up and down, and the line that turns transactions off. An editor or version control may remove a
// carriage return.
var escapes = strings.NewReplacer(
	`\`, `\\`,
	"{{", `{\x7b`,
	"---- create above / drop below ----", `---\x2d create above / drop below ----`,
	"---- tern: disable-tx ----", `---\x2d tern: disable-tx ----`,
	"\r", `\r`,
)

// IsPlainText tells whether a text can be in a migration as it is. If not, it has to
// be in a literal of the E form, which Quote writes.
func IsPlainText(text string) bool {
	for _, mark := range []string{"{{", "---- create above / drop below ----", "---- tern: disable-tx ----", "\r"} {
		if strings.Contains(text, mark) {
			return false
		}
	}
	return true
}

func isPlain(name string) bool {
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r == '_':
		case r >= '0' && r <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// reserved holds the keywords that are reserved, or reserved except for functions and types, in any version from 15 to
// 18.
var reserved = keywords(`
	all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
	column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
	current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze
	from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
	localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
	returning right select session_user similar some symmetric system_user table tablesample then to trailing true union
	unique user using variadic verbose when where window with`)

// special holds the keywords that can be columns and tables, but not functions or types, in any version from 15 to 18.
var special = keywords(`
	between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer
	interval json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize
	json_table json_value least merge_action national nchar none normalize nullif numeric out overlay position precision real
	row setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
	xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`)

func keywords(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// Names hands out names that are unique in one namespace and fit into MaxIdent bytes. A name that is too long or taken
// ends in a digest of the wanted name, so that it stays the same in any context.
type Names struct {
	taken map[string]bool
}

// NewNames returns an empty namespace.
func NewNames() *Names { return &Names{taken: map[string]bool{}} }

// Shorten returns a name that fits into some bytes: itself, or its beginning and a
// digest of it.
func Shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	digest := "_" + hex.EncodeToString(sum[:4])
	return name[:limit-len(digest)] + digest
}

// Take marks a name as taken and returns it, or a name like it that is free.
func (n *Names) Take(name string) string {
	unique := name
	for salt := ""; len(unique) > MaxIdent || n.taken[unique]; salt += "+" {
		sum := sha256.Sum256([]byte(name + salt))
		digest := "_" + hex.EncodeToString(sum[:4])
		unique = name[:min(len(name), MaxIdent-len(digest))] + digest
	}
	n.taken[unique] = true
	return unique
}
