package code

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The parser needs more than a second to start, in every process. So files without errors
// are remembered in the user's cache directory: an empty file each, named for the text and
// for the program that read it. A file that cannot be remembered is read again.

// rememberedFor is how long an unused entry is kept.
const rememberedFor = 30 * 24 * time.Hour

// memory is the directory of the entries; it is empty without a place for them.
var memory = sync.OnceValue(func() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	directory := filepath.Join(cache, "sternpost", "code")
	if os.MkdirAll(directory, 0o700) != nil {
		return ""
	}
	forget(directory)
	return directory
})

// program tells this build of the program from any other.
var program = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
})

// mark is the entry for a text without errors, or empty.
func mark(text []byte) string {
	if memory() == "" || program() == "" {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintln(sum, program())
	sum.Write(text)
	return filepath.Join(memory(), hex.EncodeToString(sum.Sum(nil)))
}

// isKnown tells whether a text was found to have no errors before.
func isKnown(text []byte) bool {
	path := mark(text)
	if path == "" {
		return false
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// remember notes that a text has no errors.
func remember(text []byte) {
	if path := mark(text); path != "" {
		_ = os.WriteFile(path, nil, 0o600)
	}
}

// forget removes entries that have not been used for long.
func forget(directory string) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > rememberedFor {
			_ = os.Remove(filepath.Join(directory, e.Name()))
		}
	}
}
