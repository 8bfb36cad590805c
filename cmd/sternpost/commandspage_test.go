package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/integration/casetest"
)

// TestCommandsPage tests that the page about the commands is the text of their help.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	var table, sections strings.Builder
	described := 0
	var describe func(c *cobra.Command)
	describe = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Name() == "help" || sub.Hidden {
				continue
			}
			sub.InitDefaultHelpFlag()
			described++
			fmt.Fprintf(&table, "| [`%s`](#%s) | %s |\n", sub.CommandPath(), strings.ReplaceAll(sub.CommandPath(), " ", "-"), sub.Short)
			fmt.Fprintf(&sections, "\n## %s\n\n```text\n%s```\n", sub.CommandPath(), helpOf(sub))
			describe(sub)
		}
	}
	describe(newRoot())
	if described < 20 {
		t.Fatalf("found %d commands", described)
	}
	casetest.File(t, "../../integration/guide/reference/commands.md", `# Commands

The help of every command, as `+"`sternpost COMMAND --help`"+` prints it. The tests write this page.

| exit code | when |
|---|---|
| `+fmt.Sprint(exitInput)+` | what you gave is wrong: a schema, a configuration, an answer |
| `+fmt.Sprint(exitUsage)+` | the command line is wrong |
| `+fmt.Sprint(exitEnvironment)+` | a database, a file or a port failed |

| command | |
|---|---|
`+table.String()+sections.String())
}

// helpOf is the help of a command, without spaces at the ends of lines.
func helpOf(c *cobra.Command) string {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	var b strings.Builder
	for line := range strings.Lines(text + "\n\n" + c.UsageString()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
