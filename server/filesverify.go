package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// VerifyOptions are what VerifyFiles takes that is no configuration.
type VerifyOptions struct {
	Role  string        // assumed in the database; empty means the rights of the login
	Store storage.Store // nil means the one of the configuration
	Age   time.Duration // objects younger than this may be on their way; 0 means a day
}

// VerifyFiles compares storage with the database. It returns a sentence for each file
// that a row names and whose contents are missing, and for each object that is older
// than a day and unknown. What is being deleted or written is neither.
func VerifyFiles(ctx context.Context, config Config, o VerifyOptions) (faults []string, err error) {
	if o.Store == nil {
		if missing := config.Storage.faults(); len(missing) > 0 {
			return nil, errors.New(strings.Join(missing, "\n"))
		}
		if o.Store, err = openStore(&config); err != nil {
			return nil, err
		}
	}
	if o.Age == 0 {
		o.Age = 24 * time.Hour
	}
	db, err := openDatabase(&config, o.Role)
	if err != nil {
		return nil, err
	}
	defer db.close()

	v := &verifier{ctx: ctx, store: o.Store, before: time.Now().Add(-o.Age)}
	files := db.keys(`select key, holders > 0 from platform.file_list($1, $2)`)
	if err := v.compare(storage.Files, files); err != nil {
		return nil, err
	}
	uploads := db.keys(`select key, false from platform.file_uploads_list($1, $2) as key`)
	if err := v.compare(storage.Uploads, uploads); err != nil {
		return nil, err
	}
	return v.faults, nil
}

// knownKey is a key that the database knows.
type knownKey struct {
	key      string
	isNeeded bool // its object must be there
}

const verifyPage = 1000

// keys yields what a function lists, which it does a page at a time.
func (d *database) keys(statement string) iter.Seq2[knownKey, error] {
	return func(yield func(knownKey, error) bool) {
		after := ""
		for {
			var keys []string
			var needed []bool
			err := d.queryRow(`select coalesce(array_agg(key), '{}'), coalesce(array_agg(is_needed), '{}') from (`+statement+`) as listed (key, is_needed)`,
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

// compare goes through objects and keys side by side; both come in byte order.
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
			v.faults = append(v.faults, fmt.Sprintf("object %s, of %d bytes, belongs to nothing", object.Key, object.Size))
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

// missing looks again for an object that was not listed: it may be newer than the
// list.
func (v *verifier) missing(prefix string, row knownKey) error {
	if !row.isNeeded {
		return nil
	}
	_, err := v.store.Head(v.ctx, prefix+row.key)
	if errors.Is(err, storage.ErrNotFound) {
		v.faults = append(v.faults, fmt.Sprintf("object %s is missing, which the database refers to", prefix+row.key))
		return nil
	}
	return err
}
