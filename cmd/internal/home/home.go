// Package home keeps what commands remember of a project on a developer's machine, in its folder .sternpost.
package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Name is the folder, inside of a project, for the data, files and keys of development.
const Name = ".sternpost"

// Make makes that folder and keeps it out of version control.
func Make(dir string) (string, error) {
	home, err := filepath.Abs(filepath.Join(dir, Name))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", fmt.Errorf("make the folder for development data: %w", err)
	}
	ignore := filepath.Join(home, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o644); err != nil {
			return "", fmt.Errorf("keep development data out of version control: %w", err)
		}
	}
	return home, nil
}
