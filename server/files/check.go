package files

import (
	"context"
	"fmt"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
)

// CheckStore stores a small object, reads it and deletes it again, and logs advice if that
// fails. It takes at most as long as one storing.
func (s *Service) CheckStore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	if err := check(ctx, s.Store); err != nil {
		s.Log.Error("cannot store files", "error", err, "do", s.advice())
	}
	if err := s.claim(); err != nil {
		s.Log.Error("unused files are not deleted", "error", err)
	}
	if store, isDisk := s.Store.(*disk.Store); isDisk {
		if why := store.Fleeting(); why != "" {
			s.Log.Warn("files will be lost", "directory", store.Directory, "why", why)
		}
	}
}

func check(ctx context.Context, store storage.Store) error {
	key := storage.Uploads + "check-" + newFileKey()
	contents := []byte("This tells whether files can be stored here, and can be deleted.\n")
	if err := store.Put(ctx, key, "text/plain", contents); err != nil {
		return fmt.Errorf("store a file: %w", err)
	}
	object, err := store.Head(ctx, key)
	if err != nil {
		return fmt.Errorf("check a stored file: %w", err)
	}
	if object.Size != int64(len(contents)) {
		return fmt.Errorf("check a stored file: it has %d bytes, not %d", object.Size, len(contents))
	}
	if err := store.Delete(ctx, key); err != nil {
		return fmt.Errorf("delete a file: %w", err)
	}
	return nil
}

// advice names likely causes why files cannot be stored.
func (s *Service) advice() string {
	if s.Config.Storage.Type.IsFolder() {
		return "check that the server owns storage.directory, " + s.Config.Storage.Directory + ", and that its disk has free space: storage.reserve is the space that stays free"
	}
	return fmt.Sprintf("check that the bucket %s exists at storage.s3.endpoint in storage.s3.region, and that AWS_ACCESS_KEY_ID may read, write, list and delete in it",
		s.Config.Storage.Bucket)
}
