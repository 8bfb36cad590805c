package compatibility

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Text returns changes for people, the worst first, and a line that counts them. It marks
// allowed ones.
func Text(list []Change, allowed []string) string {
	if len(list) == 0 {
		return "nothing changes for clients and callers\n"
	}
	var b strings.Builder
	var counts []string
	for _, class := range []Class{Breaking, Widening, Compatible} {
		n := 0
		for _, c := range list {
			if c.Class != class {
				continue
			}
			if n == 0 {
				fmt.Fprintf(&b, "%s\n", class)
			}
			n++
			note := ""
			if class != Compatible && c.IsAllowed(allowed) {
				note = " (allowed)"
			}
			fmt.Fprintf(&b, "  %s: %s%s\n      %s\n", c.Where(), strings.ReplaceAll(c.Text, "\n", "\n    "), note, c.Reason)
		}
		if n > 0 {
			b.WriteByte('\n')
			counts = append(counts, fmt.Sprintf("%d %s", n, class))
		}
	}
	return b.String() + strings.Join(counts, ", ") + "\n"
}

// The JSON form of changes, for scripts. Members may be added, but not removed.
type (
	jsonDiff struct {
		Changes []jsonChange  `json:"changes"`
		Counts  map[Class]int `json:"counts"`
	}
	jsonChange struct {
		Class   Class    `json:"class"`
		Area    Area     `json:"area"`
		Subject string   `json:"subject"`
		Actions []string `json:"actions"`
		Change  string   `json:"change"`
		Reason  string   `json:"reason"`
		Allowed bool     `json:"allowed"`
	}
)

// JSON returns changes for scripts.
func JSON(list []Change, allowed []string) []byte {
	j := jsonDiff{Changes: []jsonChange{}, Counts: map[Class]int{Breaking: 0, Widening: 0, Compatible: 0}}
	for _, c := range list {
		j.Counts[c.Class]++
		j.Changes = append(j.Changes, jsonChange{
			Class: c.Class, Area: c.Area, Subject: c.Subject, Actions: append([]string{}, c.Actions...),
			Change: c.Text, Reason: c.Reason, Allowed: c.IsAllowed(allowed),
		})
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("contract: write the changes: %v", err))
	}
	return append(text, '\n')
}
