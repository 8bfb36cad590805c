package sqlgen

import (
	"regexp"

	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// unguarded matches what custom code can name and row security does not bind.
var unguarded = regexp.MustCompile(`(?i)--[^\n]*|/\*(?s:.*?)\*/|(\brelated"?\s*\.)|(\bplatform"?\s*\.\s*"?enter\b)`)

// checkCode warns of custom code that goes past row security. Comments do not count;
// texts do, since they may be the bodies of functions.
func checkCode(files []*syntax.Source, errs *syntax.Errors) {
	for _, f := range files {
		for _, at := range unguarded.FindAllSubmatchIndex(f.Text, -1) {
			for group, message := range [...]string{
				"the views of schema related show all rows, whoever calls: read the tables of schema app",
				"platform.enter makes the code speak for another caller",
			} {
				if start, end := at[2*group+2], at[2*group+3]; start >= 0 {
					span := syntax.Span{File: f, Start: f.Place(start), End: f.Place(end)}
					*errs = append(*errs, &syntax.Diagnostic{Span: span, Code: schema.FunctionUnguarded, Message: message, Warning: true})
				}
			}
		}
	}
}
