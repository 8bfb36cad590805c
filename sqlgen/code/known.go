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

// The parser needs more than a second to start, in every process. So files in which
// nothing was found are remembered in the user's cache directory: an empty file each, named
// for the text and for the program that read it. What cannot be remembered is read again.

// rememberedFor is how long a file is remembered that nobody asks about.
const rememberedFor = 30 * 24 * time.Hour

// memory is where files are remembered; it is empty where there is no place for them.
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

// program tells this program from any other build of it.
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

// mark is the file that says that nothing was found in a text, or empty.
func mark(text []byte) string {
	if memory() == "" || program() == "" {
		return ""
	}
	sum := sha256.New()
	fmt.Fprintln(sum, program())
	sum.Write(text)
	return filepath.Join(memory(), hex.EncodeToString(sum.Sum(nil)))
}

// isKnown tells whether nothing was found in a text before.
func isKnown(text []byte) bool {
	path := mark(text)
	if path == "" {
		return false
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// remember notes that nothing was found in a text.
func remember(text []byte) {
	if path := mark(text); path != "" {
		_ = os.WriteFile(path, nil, 0o600)
	}
}

// forget removes what nobody has asked about for long.
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
