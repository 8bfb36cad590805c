package newfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "functions", "countTasks.sql")
	if err := Write(name, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, []byte("second")); !errors.Is(err, os.ErrExist) {
		t.Errorf("writing over a file: error %v, want os.ErrExist", err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "first" {
		t.Errorf("the file holds %q (error %v), want what was written first", got, err)
	}
}
