package migrate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// File is a migration.
type File struct {
	Number int
	Name   string // of the file
	Text   string

	// From and To are the digests of the releases before and after it; From is "nothing" for the first one. Both are
	// empty for a file that was written by hand.
	From, To string

	// Part and Parts identify files that make one change together: the first one brings the release, and the others the
	// statements that cannot run in its transaction.
	Part, Parts int

	digest string // digest of the text that Sternpost wrote behind the header
}

// nothing is the release before the first migration.
const nothing = "nothing"

// IsByHand tells whether the file was written by hand, and so leaves the release as it is.
func (f *File) IsByHand() bool { return f.To == "" }

// IsLast tells whether a change is complete with the file.
func (f *File) IsLast() bool { return f.Part == f.Parts }

// The patterns that tern reads in a file's name and text.
var (
	fileName = regexp.MustCompile(`\A(\d+)_.+\.sql\z`)
)

// The patterns of a header.
var (
	releaseLine = regexp.MustCompile(`(?m)^-- Release: from ([0-9a-f]{32}|nothing) to ([0-9a-f]{32})(?:, part (\d+) of (\d+))?$`)
	writtenLine = regexp.MustCompile(`(?m)^-- Written: ([0-9a-f]{24})\n`)
)

// readFiles reads the migrations of a folder, by number and name. A missing folder has none.
func readFiles(dir string) ([]*File, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	var files []*File
	for _, e := range entries {
		match := fileName.FindStringSubmatch(e.Name())
		if match == nil || e.IsDir() {
			continue
		}
		number, err := strconv.ParseInt(match[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read %s: its number is too large", filepath.Join(dir, e.Name()))
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the migrations: %w", err)
		}
		files = append(files, parseFile(int(number), e.Name(), string(text)))
	}
	sortFiles(files)
	return files, nil
}

// parseFile reads the header of a file.
func parseFile(number int, name, text string) *File {
	f := &File{Number: number, Name: name, Text: text, Part: 1, Parts: 1}
	header := headerOf(text)
	if match := releaseLine.FindStringSubmatch(header); match != nil {
		f.From, f.To = match[1], match[2]
		if match[3] != "" {
			f.Part, _ = strconv.Atoi(match[3])
			f.Parts, _ = strconv.Atoi(match[4])
		}
	}
	if match := writtenLine.FindStringSubmatch(header); match != nil {
		f.digest = match[1]
	}
	return f
}

// headerOf returns the lines of comments at the top of a file.
func headerOf(text string) string {
	end := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			break
		}
		end += len(line)
	}
	return text[:end]
}
