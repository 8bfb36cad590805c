package main_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// platforms are the platforms of a release's binaries.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

// fakeGo replaces go: it writes its arguments into the file that it should build.
const fakeGo = `#!/bin/sh
told="$GOOS/$GOARCH CGO_ENABLED=$CGO_ENABLED"
while [ "$1" != -o ]; do told="$told $1"; shift; done
echo "$told $3" >"$2"
`

// TestRelease makes a release with another program in place of go, since compiling
// everything for each platform takes minutes.
func TestRelease(t *testing.T) {
	t.Parallel()
	tool := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(tool, []byte(fakeGo), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replaceFile(t, filepath.Join(dir, "sternpost-plan9-mips"), "of a release before")
	out := makeRelease(t, "release", "GO="+tool, "RELEASE="+dir, "VERSION=v1.2.3")

	var sums strings.Builder
	for _, platform := range []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"} { // as a shell sorts them
		name := "sternpost-" + strings.ReplaceAll(platform, "/", "-")
		text := readFile(t, filepath.Join(dir, name))
		want := platform + " CGO_ENABLED=0 build -trimpath -ldflags -s -w -X main.version=v1.2.3 ./cmd/sternpost\n"
		if text != want {
			t.Errorf("%s is made by %q, want %q", name, text, want)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(text)), name)
	}
	if got := readFile(t, filepath.Join(dir, "SHA256SUMS")); got != sums.String() || out != got {
		t.Errorf("SHA256SUMS holds\n%swant\n%sprinted is\n%s", got, sums.String(), out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(platforms)+1 {
		t.Errorf("the folder holds %v (%v), want the binaries and their sums", entries, err)
	}
}

// makeCommand returns make as a user runs it, regardless of who runs this test.
func makeCommand(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"--silent", "-C", "../.."}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAKE") && !strings.HasPrefix(v, "MFLAGS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

func makeRelease(t *testing.T, args ...string) string {
	t.Helper()
	cmd := makeCommand(t, args...)
	var diagnostics strings.Builder
	cmd.Stderr = &diagnostics
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(args, " "), err, diagnostics.String())
	}
	return string(out)
}

// TestReleaseIsStatic tests that each package can be compiled without C, on each
// platform.
func TestReleaseIsStatic(t *testing.T) {
	t.Parallel()
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.GoFiles}}", ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "\n[]\n") {
			t.Errorf("%s: %v\n%s", platform, err, out)
		}
	}
}
