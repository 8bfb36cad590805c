// Package watch tells when the files of a project change.
package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/sternpost/sternpost/sqlgen"
)

// quiet is how long files must stay unchanged before they are read: editors write a
// file in several steps.
const quiet = 100 * time.Millisecond

// Project reports changes of the files of the project in a folder, and of all files in its
// folders that also names, until ctx ends. It reports several changes within a short time
// once.
func Project(ctx context.Context, dir string, also ...string) (<-chan struct{}, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the project: %w", err)
	}
	// Folders are watched, not files: editors replace files by new ones.
	if err := w.Add(dir); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	folders := append([]string{"schemas", "functions", "mail"}, also...)
	for _, folder := range folders {
		if err := w.Add(filepath.Join(dir, folder)); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.Close()
			return nil, fmt.Errorf("watch %s: %w", filepath.Join(dir, folder), err)
		}
	}

	changes := make(chan struct{}, 1)
	go func() {
		defer w.Close()
		settle := time.NewTimer(time.Hour)
		settle.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case event := <-w.Events:
				name, err := filepath.Rel(dir, event.Name)
				if err != nil {
					continue
				}
				if slices.Contains(folders, name) && event.Has(fsnotify.Create) {
					if w.Add(event.Name) == nil {
						settle.Reset(quiet) // it may hold files already
					}
					continue
				}
				isInput := sqlgen.IsInput(filepath.ToSlash(name)) || slices.Contains(also, filepath.Dir(name))
				if isInput && !event.Has(fsnotify.Chmod) {
					settle.Reset(quiet)
				}
			case <-w.Errors:
				settle.Reset(quiet) // events may have been lost: look again
			case <-settle.C:
				select {
				case changes <- struct{}{}:
				default: // one is waiting already
				}
			}
		}
	}()
	return changes, nil
}
