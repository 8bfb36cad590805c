// Package local keeps objects in a folder, for development. Download URLs contain the
// contents.
package local

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
)

// Options configure where objects are kept.
type Options struct {
	Directory string // made when it is first needed
	BaseURL   string // of the server that takes uploads, without trailing slash

	// Secret is the key for the signatures of upload URLs. Only its holders can make one.
	Secret []byte
}

// Store is a folder.
type Store struct{ *disk.Store }

var _ storage.Store = (*Store)(nil)

// Open prepares to use a folder.
func Open(o Options) (*Store, error) {
	store, err := disk.Open(disk.Options{Directory: o.Directory, BaseURL: o.BaseURL, Secret: o.Secret})
	if err != nil {
		return nil, err
	}
	return &Store{store}, nil
}

// DownloadURL returns a data URL with the contents.
func (s *Store) DownloadURL(_ context.Context, key string, d storage.Download) (string, error) {
	object, err := s.Read(key)
	if err != nil {
		return "", err
	}
	defer object.Close()
	section, err := object.Section(0, object.Size)
	if err != nil {
		return "", fmt.Errorf("read an object: %w", err)
	}
	contents, err := io.ReadAll(section)
	if err != nil {
		return "", fmt.Errorf("read an object: %w", err)
	}
	return "data:" + d.ContentType + ";name=" + url.PathEscape(d.Filename) +
		";base64," + base64.StdEncoding.EncodeToString(contents), nil
}
