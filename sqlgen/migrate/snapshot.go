package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// SnapshotName is the name of the file, beside the migrations, that describes a database after all of them.
const SnapshotName = "snapshot.json"

// snapshotFormat is the version of the snapshot's form.
const snapshotFormat = 1

// snapshot describes a database after all migrations: the next one is computed from it.
type snapshot struct {
	Format      int       `json:"format"`
	Version     int       `json:"version"` // of the last migration that Sternpost wrote
	Digest      string    `json:"digest"`  // of the release
	Platform    sql.State `json:"platform"`
	Source      string    `json:"source"`
	Manifest    document  `json:"manifest"`
	Description document  `json:"description"`
}

// document is a JSON text that is kept to the byte, in pieces that let version control show its changes.
type document []string

func newDocument(text []byte) document { return strings.SplitAfter(string(text), "},") }

func (d document) text() []byte { return []byte(strings.Join(d, "")) }

// readSnapshot reads the snapshot of a folder of migrations; nil without one.
func readSnapshot(dir string) (*snapshot, error) {
	name := filepath.Join(dir, SnapshotName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	s := &snapshot{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read %s: %w (if it has conflict markers of version control, run: sternpost migrate rebase)", name, err)
	}
	if s.Format > snapshotFormat {
		return nil, fmt.Errorf("%s was written by a newer Sternpost: use that one", name)
	}
	if s.record().digest() != s.Digest {
		return nil, fmt.Errorf("%s was changed by hand or by a merge: its digest does not match its contents; run: sternpost migrate rebase", name)
	}
	return s, nil
}

// Described returns the database after all migrations of a folder, nil if there are none.
func Described(dir string) (*pg.Database, error) {
	s, err := readSnapshot(dir)
	if s == nil || err != nil {
		return nil, err
	}
	return pg.ReadDescription(s.Description.text())
}

// newSnapshot makes the snapshot of a release.
func newSnapshot(version int, platform sql.State, r record) *snapshot {
	return &snapshot{
		Format: snapshotFormat, Version: version, Digest: r.digest(), Platform: platform,
		Source: r.source, Manifest: newDocument(r.manifest), Description: newDocument(r.description),
	}
}

// record returns the release of the snapshot.
func (s *snapshot) record() record {
	return record{s.Source, s.Manifest.text(), s.Description.text()}
}

// text writes the snapshot.
func (s *snapshot) text() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(s); err != nil {
		panic(fmt.Sprintf("migrate: write a snapshot: %v", err))
	}
	return b.Bytes()
}
