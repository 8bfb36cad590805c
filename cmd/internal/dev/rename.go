package dev

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/diff"
)

// writeRename writes a @renamed into the schema, behind its declaration.
func writeRename(dir string, r diff.Rename) error {
	file, line, column, err := parsePlace(r.Place)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, filepath.FromSlash(file))
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("write a rename: %w", err)
	}
	at, ok := offsetOf(text, line, column)
	if !ok {
		return fmt.Errorf("%s was changed, and does not have line %d, column %d", name, line, column)
	}
	attribute := " @renamed(from: " + r.From + ")"
	pattern := declarationPattern(r.Declaration)
	if strings.HasPrefix(r.Declaration, "model ") {
		pattern = `\A` + regexp.QuoteMeta(strings.TrimPrefix(r.Declaration, "model ")) + `[^{]*\{`
		attribute = "\n  " + strings.TrimSpace(attribute) + "\n"
	}
	found := regexp.MustCompile(pattern).FindIndex(text[at:])
	if found == nil {
		return fmt.Errorf("%s was changed, and does not declare %s at line %d", name, r.Declaration, line)
	}
	end := at + found[1]
	changed := string(text[:end]) + attribute + string(text[end:])
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("write a rename: %w", err)
	}
	if err := os.WriteFile(name, []byte(changed), info.Mode().Perm()); err != nil {
		return fmt.Errorf("write a rename: %w", err)
	}
	return nil
}

// declarationPattern matches a declaration with any spacing: title Text[]?.
func declarationPattern(declaration string) string {
	field, typ, _ := strings.Cut(declaration, " ")
	pattern := `\A` + regexp.QuoteMeta(field) + `\s+`
	for _, mark := range regexp.MustCompile(`\w+|\W`).FindAllString(typ, -1) {
		pattern += regexp.QuoteMeta(mark) + `\s*`
	}
	return strings.TrimSuffix(pattern, `\s*`)
}

// parsePlace reads blog.stern:12:5.
func parsePlace(place string) (file string, line, column int, err error) {
	parts := strings.Split(place, ":")
	if len(parts) < 3 {
		return "", 0, 0, fmt.Errorf("%q is not a place", place)
	}
	last := len(parts) - 1
	line, err = strconv.Atoi(parts[last-1])
	if err == nil {
		column, err = strconv.Atoi(parts[last])
	}
	if err != nil {
		return "", 0, 0, fmt.Errorf("%q is not a place", place)
	}
	return strings.Join(parts[:last-1], ":"), line, column, nil
}

// offsetOf finds a place in a text, with columns counted in characters.
func offsetOf(text []byte, line, column int) (int, bool) {
	offset := 0
	for range line - 1 {
		end := bytes.IndexByte(text[offset:], '\n')
		if end < 0 {
			return 0, false
		}
		offset += end + 1
	}
	rest := []rune(string(text[offset:]))
	if column-1 > len(rest) {
		return 0, false
	}
	return offset + len(string(rest[:column-1])), true
}
