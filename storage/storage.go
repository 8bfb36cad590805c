package storage

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Store keeps objects. It may be used concurrently. An error other than the two
// below means that the store is out of reach or refuses its service.
type Store interface {
	// UploadURL returns an address that takes the object by one PUT, or several of
	// which the last counts, for as long as Upload says. Whatever is sent with
	// another content type or length than announced is refused by the store itself.
	UploadURL(ctx context.Context, key string, upload Upload) (string, error)

	// DownloadURL returns an address of the contents that ends after
	// DownloadLifetime, or holds them itself.
	DownloadURL(ctx context.Context, key string, download Download) (string, error)

	// Put stores an object, in place of any that is there.
	Put(ctx context.Context, key, contentType string, contents []byte) error

	// Copy stores under another key what is under from, with its content type, if
	// that still has the ETag; else it returns ErrChanged, or ErrNotFound.
	Copy(ctx context.Context, from, to, etag string) error

	// Head describes an object; ErrNotFound if there is none.
	Head(ctx context.Context, key string) (Object, error)

	// Delete removes an object. That there is none is not an error.
	Delete(ctx context.Context, key string) error

	// List yields the objects whose keys begin with prefix, by ascending key. It ends
	// with the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
}

// What a store says of an object.
var (
	ErrNotFound = errors.New("there is no such object")
	ErrChanged  = errors.New("the object has been replaced")
)

// DownloadLifetime is how long a download URL holds.
const DownloadLifetime = time.Hour

// Upload is what is announced of an object.
type Upload struct {
	ContentType string
	Size        int64 // at least 1: the signature of an empty PUT covers neither type nor length
	Lifetime    time.Duration
}

// Download says how an object is handed out.
type Download struct {
	Filename    string
	ContentType string
}

// Object is what a store knows of an object.
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

// The prefixes under which objects are kept.
const (
	Uploads = "uploads/" // sent by clients, before anything refers to them
	Files   = "files/"   // named by rows; never overwritten
)
