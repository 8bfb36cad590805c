// Package newfile writes files of a project that must not exist yet.
package newfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file and its folders. It fails with os.ErrExist if the file exists.
func Write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
