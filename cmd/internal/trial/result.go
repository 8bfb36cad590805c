package trial

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/sternpost/sternpost/cmd/internal/seed"
)

// Result is the outcome of a file, or of the matrix.
type Result struct {
	File  string
	Calls []Call
}

// Call is a call that was made.
type Call struct {
	seed.Call
	Line    int
	Failure string // how it differs from what must come, in lines; empty if it does not
	Took    time.Duration
}

// JUnit writes results in the form that CI services read.
func JUnit(out io.Writer, results []Result) error {
	type testcase struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		Seconds string  `xml:"time,attr"`
		Failure *string `xml:"failure,omitempty"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	all := struct {
		XMLName struct{} `xml:"testsuites"`
		Suites  []suite  `xml:"testsuite"`
	}{}
	for _, r := range results {
		s := suite{Name: r.File, Tests: len(r.Calls)}
		for _, c := range r.Calls {
			name := fmt.Sprintf("line %d: %s", c.Line, c.Action)
			if c.As != "" {
				name += " as " + c.As
			}
			t := testcase{Class: r.File, Name: name, Seconds: fmt.Sprintf("%.3f", c.Took.Seconds())}
			if c.Failure != "" {
				t.Failure = &c.Failure
				s.Failures++
			}
			s.Cases = append(s.Cases, t)
		}
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	return encoder.Encode(all)
}
