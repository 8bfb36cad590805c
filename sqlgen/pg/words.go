package pg

import "strings"

// token is a piece of an SQL text.
type token struct {
	text  string // as in the text
	name  string // of an identifier or keyword
	ident bool
}

// tokens cuts SQL of the kind that emit prints into identifiers, texts and the rest.
func tokens(sql string) []token {
	var list []token
	for at := 0; at < len(sql); {
		end := at + 1
		switch c := sql[at]; {
		case c == '\'' || (c == 'E' && end < len(sql) && sql[end] == '\''):
			escapes := c == 'E'
			for end = strings.IndexByte(sql[at:], '\'') + at + 1; end < len(sql) && sql[end] != '\''; end++ {
				if escapes && sql[end] == '\\' {
					end++
				}
			}
			end = min(end+1, len(sql))
			list = append(list, token{text: sql[at:end]})
		case c == '"':
			for end < len(sql) && (sql[end] != '"' || strings.HasPrefix(sql[end:], `""`)) {
				if sql[end] == '"' {
					end++
				}
				end++
			}
			end = min(end+1, len(sql))
			list = append(list, token{text: sql[at:end], name: strings.ReplaceAll(strings.Trim(sql[at:end], `"`), `""`, `"`), ident: true})
		case isWordByte(c):
			for end < len(sql) && isWordByte(sql[end]) {
				end++
			}
			list = append(list, token{text: sql[at:end], name: strings.ToLower(sql[at:end]), ident: c < '0' || c > '9'})
		default:
			list = append(list, token{text: sql[at:end]})
		}
		at = end
	}
	return list
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Renamed returns an SQL text in which identifiers have other names, as Postgres rewrites a stored expression when a
// column or table that it mentions is renamed.
func Renamed(sql string, names map[string]string) string {
	if len(names) == 0 {
		return sql
	}
	var b strings.Builder
	for _, t := range tokens(sql) {
		if to, ok := names[t.name]; ok && t.ident {
			b.WriteString(Ident(to))
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}
