package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sternpost/sternpost/cmd/internal/home"
	"github.com/sternpost/sternpost/sql/postgres"
)

// Reset removes the development database of a project, and the files that belong to its
// rows, so that the next run starts with nothing. The keys stay.
func Reset(ctx context.Context, dir string) error {
	home := filepath.Join(dir, home.Name)
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var used *postgres.InUseError
	if err := postgres.Remove(ctx, home); errors.As(err, &used) {
		return fmt.Errorf("the development database is running: stop sternpost dev first (%w)", err)
	} else if err != nil {
		return fmt.Errorf("remove the database: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(home, "files")); err != nil {
		return fmt.Errorf("remove the files: %w", err)
	}
	return nil
}
