package manifest

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// maxFiles is how many files one input takes, as many as rows of one array.
const maxFiles = 1000

// fileSchema is the schema of one file of an input. Only an input with an upload route
// takes upload keys.
func fileSchema(in *model.Input, nullable bool) *release.JSONSchema {
	if !table.TakesUploads(in) {
		return scalar(expr.Type{Kind: expr.File}, nil, nullable)
	}
	return release.TypedOrNull("string", nullable).With("x-format", "file").Described(
		"A file: the key of an upload, or a data URL of the form data:<content type>;name=<file name>;base64,<data>.")
}
