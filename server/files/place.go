package files

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"mime"
	"strings"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
	"github.com/sternpost/sternpost/storage/local"
	"github.com/sternpost/sternpost/storage/s3"
)

// Open opens the store of a configuration; nil if it names none, which is valid for a
// schema without files.
func Open(c *config.Config) (storage.Store, error) {
	switch {
	case c.Storage.Type.IsFolder():
		return openFolder(c)
	case c.Storage.Bucket == "" || c.Storage.Region == "":
		return nil, nil
	}
	return s3.Open(s3.Options{
		Bucket: c.Storage.Bucket, Region: c.Storage.Region, Endpoint: c.Storage.Endpoint, PathStyle: c.Storage.PathStyle,
	})
}

// openFolder opens a folder. The key of its signatures is derived from the signing key of
// tokens, which exactly the servers of an application have, so no further secret is needed.
// Addresses expire after an hour at most, and with a rotation of that key.
func openFolder(c *config.Config) (storage.Store, error) {
	var secret []byte
	if c.SigningKey != "" { // without it nothing is signed, for example if storage is only read
		var err error
		if secret, err = auth.DeriveKey([]byte(c.SigningKey), "sternpost file URLs"); err != nil {
			return nil, err
		}
	}
	if c.Storage.Type == config.Local {
		return local.Open(local.Options{Directory: c.Storage.Directory, BaseURL: c.BaseURL, Secret: secret})
	}
	return disk.Open(disk.Options{
		Directory: c.Storage.Directory, BaseURL: c.BaseURL, Secret: secret, Reserve: int64(c.Storage.Reserve), Durable: true, Spread: true,
	})
}

// answerTimeout limits how long a call waits, in total, for fast requests to storage: the metadata of its uploads.
// Then the call fails, so that a store that hangs does not accumulate calls.
const answerTimeout = 10 * time.Second

// storageTimeout limits storing: all files of a call, or one request of a sweep. A copy
// of a large file within the service takes longest.
const storageTimeout = 40 * time.Second

func storageContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), storageTimeout)
}

// newFileKey returns a key that cannot be guessed: 128 random bits in base64url.
func newFileKey() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// isFileKey tells whether a text has the form of a key. No other text can name an object.
func isFileKey(text string) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(b) == 16
}

// judgeFile lists why an input refuses a file of that type and size. The entries are
// about the given fields.
func judgeFile(in *release.FileInput, contentType string, size int64, typeField, sizeField string) []problem.Problem {
	var entries []problem.Problem
	if !acceptsType(in.Accepts, contentType) {
		entries = append(entries, problem.ContentType(refusal.Cut(contentType, 64), in.Accepts).At(typeField))
	}
	if size > in.MaxSize {
		entries = append(entries, problem.MaxSize(in.MaxSize).At(sizeField))
	}
	return entries
}

// acceptsType tells whether a content type matches one of the patterns, which are
// type/subtype or type/* in lower case. It ignores parameters.
func acceptsType(patterns []string, contentType string) bool {
	if len(patterns) == 0 {
		return true
	}
	bare, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	for _, p := range patterns {
		if kind, isOpen := strings.CutSuffix(p, "*"); p == bare || isOpen && strings.HasPrefix(bare, kind) {
			return true
		}
	}
	return false
}
