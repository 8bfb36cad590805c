package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
)

const page = "../../integration/guide/reference/configuration.md"

// TestConfigurationPage checks that the page about the configuration lists the keys,
// variables and defaults of the table of settings. The purpose of a setting, and a computed
// default, are written only in the page.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const heading = "| key | in the environment | default (in development) | |\n|---|---|---|---|\n"
	before, rest, found := strings.Cut(string(text), heading)
	if !found {
		t.Fatalf("%s has no table %q", page, heading)
	}
	rows, after, _ := strings.Cut(rest, "\n\n")
	written := map[string][]string{} // by key, the cells of the row
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), " | ")
		if key := regexp.MustCompile("`([^`]+)`").FindStringSubmatch(cells[0]); key != nil && len(cells) == 4 {
			written[key[1]] = cells
		}
	}
	var table strings.Builder
	for i := range settings {
		s := &settings[i]
		if s.ofSchema {
			if !strings.Contains(before, "\n| `"+s.key+"` |") {
				t.Errorf("%s does not describe %s, which belongs to the schema", page, s.key)
			}
			continue
		}
		row := written[s.key]
		if row == nil || strings.TrimSpace(row[3]) == "" {
			t.Errorf("%s does not say what %s is for: add a row with the key and its meaning, and run -update", page, s.key)
			continue
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", s.keyCell(), s.variableCell(), s.defaultCell(row[2]), strings.TrimSpace(row[3]))
	}
	if !t.Failed() {
		casetest.File(t, page, before+heading+strings.TrimRight(table.String(), "\n")+"\n\n"+after)
	}
}

func (s *setting[C]) keyCell() string {
	if s.isSecret {
		return "`" + s.key + "` ¹"
	}
	return "`" + s.key + "`"
}

func (s *setting[C]) variableCell() string {
	if s.members != nil {
		return "–"
	}
	return "`" + s.knownVariable() + "`"
}

// defaultCell returns the default of a setting, or the page's text for a computed one.
func (s *setting[C]) defaultCell(written string) string {
	production, development := s.defaultText(Production), s.defaultText(Development)
	switch {
	case production == "" && development == "":
		return strings.TrimSpace(written)
	case production == "":
		return "none (`" + development + "`)"
	case production == development:
		return "`" + production + "`"
	default:
		return "`" + production + "` (`" + development + "`)"
	}
}
