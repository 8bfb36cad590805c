package storage

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Store keeps objects. It may be used concurrently. An error other than the two below
// means that the store is unavailable or refuses access.
type Store interface {
	// UploadURL returns an address for a PUT of the object, valid as long as Upload says.
	// Of several PUTs the last one counts. The store itself refuses a content type or
	// length other than announced.
	UploadURL(ctx context.Context, key string, upload Upload) (string, error)

	// DownloadURL returns an address of the contents that expires after DownloadLifetime,
	// or contains them itself.
	DownloadURL(ctx context.Context, key string, download Download) (string, error)

	// Put stores an object, and replaces an existing one.
	Put(ctx context.Context, key, contentType string, contents []byte) error

	// Copy copies the object under from to another key, with its content type, if it
	// still has the ETag; else it returns ErrChanged, or ErrNotFound.
	Copy(ctx context.Context, from, to, etag string) error

	// Head describes an object; ErrNotFound if it does not exist.
	Head(ctx context.Context, key string) (Object, error)

	// Delete removes an object. A missing object is not an error.
	Delete(ctx context.Context, key string) error

	// List yields the objects whose keys begin with prefix, by ascending key. It ends
	// with the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
}

// The errors about an object.
var (
	ErrNotFound = errors.New("the object does not exist")
	ErrChanged  = errors.New("the object has been replaced")
)

// DownloadLifetime is the lifetime of a download URL.
const DownloadLifetime = time.Hour

// Upload is the announcement of an object.
type Upload struct {
	ContentType string
	Size        int64 // at least 1: the signature of an empty PUT covers neither type nor length
	Lifetime    time.Duration
}

// Download is how an object is served.
type Download struct {
	Filename    string
	ContentType string
}

// Object describes a stored object.
type Object struct {
	ContentType string
	Size        int64
	ETag        string // changes with the contents
}

// Entry is an object in a list.
type Entry struct {
	Key     string
	Size    int64
	Changed time.Time
}

// The prefixes of keys.
const (
	Uploads = "uploads/" // sent by clients, not referred to yet
	Files   = "files/"   // referred to by rows; never overwritten
)
