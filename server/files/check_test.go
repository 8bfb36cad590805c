package files

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
)

// onePlace is a store for one object, whose operations can fail.
type onePlace struct {
	storage.Store
	contents      []byte
	put, deleting error
}

func (p *onePlace) Put(_ context.Context, _, _ string, contents []byte) error {
	p.contents = contents
	return p.put
}

func (p *onePlace) Head(context.Context, string) (storage.Object, error) {
	return storage.Object{Size: int64(len(p.contents))}, nil
}

func (p *onePlace) Delete(context.Context, string) error {
	p.contents = nil
	return p.deleting
}

// TestCheckStore reports why files cannot be stored, and leaves nothing behind.
func TestCheckStore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		store onePlace
		want  string // in the log; "" means nothing
	}{
		{"all is well", onePlace{}, ""},
		{"no bucket", onePlace{put: errors.New("NoSuchBucket")}, "store a file: NoSuchBucket"},
		{"no right to delete", onePlace{deleting: errors.New("AccessDenied")}, "delete a file: AccessDenied"},
	} {
		var log bytes.Buffer
		s := &Service{Options: Options{
			Config: &config.Config{Storage: config.Storage{Type: "s3", Bucket: "photos"}}, Store: &test.store, Log: slog.New(slog.NewTextHandler(&log, nil)),
		}}
		s.CheckStore(t.Context())
		if got := log.String(); test.want == "" && got != "" || !strings.Contains(got, test.want) || test.want != "" && !strings.Contains(got, "check that the bucket photos exists") {
			t.Errorf("%s: the log says %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCheckDisk reports where to look if a folder does not accept files.
func TestCheckDisk(t *testing.T) {
	t.Parallel()
	store, err := disk.Open(disk.Options{Directory: "/proc/files", Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := &Service{Options: Options{
		Config: &config.Config{Storage: config.Storage{Type: config.Disk, Directory: "/proc/files"}},
		Store:  struct{ storage.Store }{store}, Log: slog.New(slog.NewTextHandler(&log, nil)),
	}}
	s.CheckStore(t.Context())
	for _, want := range []string{"cannot store files", "the server owns storage.directory, /proc/files", "storage.reserve"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
}
