package emit

import "github.com/sternpost/sternpost/sqlgen/pg"

// Release is the result of one compilation: a database, and the manifest that a server reads.
type Release struct {
	*pg.Database
	Manifest []byte // JSON
}

func (w *writer) release(r *Release) {
	w.section("Release")
	w.text(InstallRelease(r))
}

// InstallRelease writes the statement that makes a release the newest one.
func InstallRelease(r *Release) string {
	return "select platform.install_release(\n" +
		"  " + pg.Quote(flatName(r.Source)) + ",\n" +
		"  " + pg.DollarQuote("json", string(r.Manifest)) + ",\n" +
		"  " + pg.DollarQuote("json", string(r.Description())) + "\n);"
}
