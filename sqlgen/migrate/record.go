package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// record is the content of a release, as the database keeps it.
type record struct {
	source      string // the names of the schema files
	manifest    []byte // JSON
	description []byte // JSON
}

// digest names the record as platform.release_digest does.
func (r record) digest() string {
	sum := sha256.Sum256(bytes.Join([][]byte{r.manifest, r.description}, []byte("\n")))
	return hex.EncodeToString(sum[:])[:32]
}

// changeSQL writes the statement that installs the record after another one.
func (r record) changeSQL(before record) string {
	return fmt.Sprintf("select platform.install_release_change(\n  %s,\n  '%s',\n  '%s',\n  %s,\n  %s\n);",
		pg.Quote(r.source), before.digest(), r.digest(), patchSQL(before.manifest, r.manifest), patchSQL(before.description, r.description))
}

// digestOf names a text.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:24]
}
