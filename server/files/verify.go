package files

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/storage"
)

// VerifyOptions are the parameters of VerifyFiles outside the configuration.
type VerifyOptions struct {
	Store storage.Store // nil means the one of the configuration
	Age   time.Duration // younger objects may be uploads in progress; 0 means a day

	// Recount makes the database count its references to files again before the
	// comparison.
	Recount bool
}

// Verify compares storage with the database. It returns a sentence for each file that a
// row names without contents, for each unknown object that is older than a day, and for
// each file with a wrong count of holders in the database. It ignores objects that are
// being deleted or written.
func Verify(ctx context.Context, c *config.Config, db Database, o VerifyOptions) (faults []string, err error) {
	if o.Store == nil {
		if missing := c.Storage.Faults(); len(missing) > 0 {
			return nil, errors.New(strings.Join(missing, "\n"))
		}
		if o.Store, err = Open(c); err != nil {
			return nil, err
		}
	}
	if o.Age == 0 {
		o.Age = 24 * time.Hour
	}
	v := &verifier{ctx: ctx, store: o.Store, before: time.Now().Add(-o.Age)}
	if o.Recount {
		if err := db.QueryRow(`select platform.file_recount()`, nil, new(int64)); err != nil {
			return nil, fmt.Errorf("count the files of the database anew: %w", err)
		}
	}
	if err := v.count(db); err != nil {
		return nil, err
	}
	files := keysOfDatabase(db, `select key, holders > 0 from platform.file_list($1, $2)`)
	if err := v.compare(storage.Files, files); err != nil {
		return nil, err
	}
	uploads := keysOfDatabase(db, `select key, false from platform.file_uploads_list($1, $2) as key`)
	if err := v.compare(storage.Uploads, uploads); err != nil {
		return nil, err
	}
	return v.faults, nil
}

// knownKey is a key that the database knows.
type knownKey struct {
	key      string
	isNeeded bool // its object must exist
}

const verifyPage = 1000

// keysOfDatabase yields the rows of a function that lists pages.
func keysOfDatabase(db Database, statement string) iter.Seq2[knownKey, error] {
	return func(yield func(knownKey, error) bool) {
		after := ""
		for {
			var keys []string
			var needed []bool
			err := db.QueryRow(`select coalesce(array_agg(key), '{}'), coalesce(array_agg(is_needed), '{}') from (`+statement+`) as listed (key, is_needed)`,
				[]any{after, int32(verifyPage)}, &keys, &needed)
			if err != nil {
				yield(knownKey{}, fmt.Errorf("list the files of the database: %w", err))
				return
			}
			for i, key := range keys {
				if !yield(knownKey{key, needed[i]}, nil) {
					return
				}
				after = key
			}
			if len(keys) < verifyPage {
				return
			}
		}
	}
}

type verifier struct {
	ctx    context.Context
	store  storage.Store
	before time.Time
	faults []string
}

// count notes files with a wrong count of holders in the database. Such a file may be
// deleted while a row names it, or stay forever.
func (v *verifier) count(db Database) error {
	err := db.QueryRow(`select coalesce(array_agg(
			format('file %s is named by %s fields of rows, and counted as named by %s', key, named, holders)
		order by key), '{}') from platform.file_miscounted()`, nil, &v.faults)
	if err != nil {
		return fmt.Errorf("count the files that rows name: %w", err)
	}
	return nil
}

// compare iterates over objects and keys in parallel; both are in byte order.
func (v *verifier) compare(prefix string, known iter.Seq2[knownKey, error]) error {
	next, stop := iter.Pull2(known)
	defer stop()
	row, err, more := next()
	for object, listErr := range v.store.List(v.ctx, prefix) {
		if listErr != nil {
			return listErr
		}
		key := strings.TrimPrefix(object.Key, prefix)
		for more && err == nil && row.key < key {
			err = v.missing(prefix, row)
			if err == nil {
				row, err, more = next()
			}
		}
		if err != nil {
			return err
		}
		if more && row.key == key {
			row, err, more = next()
			continue
		}
		if object.Changed.Before(v.before) {
			v.faults = append(v.faults, fmt.Sprintf("object %s, of %d bytes, belongs to no row", object.Key, object.Size))
		}
	}
	for more && err == nil {
		err = v.missing(prefix, row)
		if err == nil {
			row, err, more = next()
		}
	}
	return err
}

// missing checks again for an object that was not listed: it may be newer than the list.
func (v *verifier) missing(prefix string, row knownKey) error {
	if !row.isNeeded {
		return nil
	}
	_, err := v.store.Head(v.ctx, prefix+row.key)
	if errors.Is(err, storage.ErrNotFound) {
		v.faults = append(v.faults, fmt.Sprintf("object %s is missing, but the database refers to it", prefix+row.key))
		return nil
	}
	return err
}
