//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// maxSocketPath is the longest path of a socket: the lowest limit of the supported
// systems, without the terminator.
const maxSocketPath = 103

// launch starts the binaries of this machine.
func launch(ctx context.Context, opts Options) (_ *Server, err error) {
	if opts.Dir == "" && !opts.Temporary {
		return nil, errors.New("start Postgres: give a URL, or a directory for its data")
	}
	acc, err := serverAccount()
	if err != nil {
		return nil, err
	}
	var d *data
	if opts.Temporary {
		d, err = temporaryData(&acc)
	} else {
		d, err = keptData(opts.Dir, &acc)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.release())
		}
	}()

	installations, err := findInstallations(ctx, acc)
	if err != nil {
		return nil, err
	}
	inst, err := d.choose(installations)
	if err != nil {
		return nil, err
	}
	if err := d.initialize(ctx, inst, acc); err != nil {
		return nil, err
	}
	if err := d.awaitPredecessor(ctx); err != nil {
		return nil, err
	}
	sockets, err := socketDir(d.dir, acc)
	if err != nil {
		return nil, err
	}

	logged := &tail{to: opts.Log}
	cmd := command(inst.path("postgres"), arguments(opts, d, sockets), acc, logged)
	signal := syscall.SIGINT // disconnect all clients and write everything
	if opts.Temporary {
		signal = syscall.SIGQUIT // just stop
	}
	proc, err := startBound(cmd, signal)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	url := socketURL(sockets)
	if err := awaitAnswer(ctx, url, proc.exited); err != nil {
		return nil, errors.Join(
			fmt.Errorf("start %s: %w; its log:\n%s", cmd.Path, err, logged.text()),
			proc.stop(syscall.SIGQUIT),
		)
	}

	stop := sync.OnceValue(func() error {
		err := proc.stop(signal)
		if sockets != d.dir {
			err = errors.Join(err, os.Remove(sockets))
		}
		return errors.Join(err, d.release())
	})
	ending := func() error {
		return fmt.Errorf("%s ended: %v; its last log lines:\n%s", cmd.Path, cmd.ProcessState, logged.text())
	}
	return &Server{url: url, describe: describe(inst, d), dataDir: d.dir, stop: stop, exited: proc.exited, ending: ending}, nil
}

func describe(inst installation, d *data) string {
	text := fmt.Sprintf("PostgreSQL %s from %s, data in %s", inst.version, inst.bin, d.dir)
	if d.remark != "" {
		text += " (" + d.remark + ")"
	}
	return text
}

// arguments returns the server's settings: the required ones after the requested ones.
func arguments(opts Options, d *data, sockets string) []string {
	settings := []string{"timezone=UTC", "log_timezone=UTC", "logging_collector=off", "log_destination=stderr"}
	if opts.Temporary {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off",
			// Commits that do not wait wake the WAL writer while a full page is not flushed, and by default it flushes only
			// every 200 ms. Without fsync a flush costs nothing, and a commit without a signal costs less.
			"wal_writer_flush_after=0")
	}
	settings = append(settings, opts.Settings...)
	settings = append(settings,
		"listen_addresses=",
		"port="+socketPort,
		"unix_socket_permissions=0700",
		// It is a list, so it needs quotes.
		`unix_socket_directories="`+strings.ReplaceAll(sockets, `"`, `""`)+`"`,
	)
	args := []string{"-D", d.dir}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// socketDir returns the data directory, which is private. If its path is not suitable, it
// returns a private directory with a short path, the same on each start.
func socketDir(dir string, acc account) (string, error) {
	if isSocketDir(dir) {
		return dir, nil
	}
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		short := filepath.Join(base, "sternpost-"+shortHash(dir))
		if base == "" || !isSocketDir(short) || !acc.canReach(base) {
			continue
		}
		err := acc.makeDir(short)
		if errors.Is(err, os.ErrExist) {
			err = acc.checkPrivate(short)
		}
		if err != nil {
			return "", fmt.Errorf("make a directory for the socket: %w", err)
		}
		return short, nil
	}
	return "", fmt.Errorf("the path %s cannot hold a socket, and neither can the directory for temporary files: set TMPDIR to a shorter path", dir)
}

// isSocketDir tells whether a path can be a socket's directory: it is short enough, and
// contains no comma, which clients read as a separator.
func isSocketDir(dir string) bool {
	return !strings.Contains(dir, ",") && len(filepath.Join(dir, ".s.PGSQL."+socketPort)) <= maxSocketPath
}

// checkPrivate makes sure that only we can use a directory in a public place.
func (a account) checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || info.Sys().(*syscall.Stat_t).Uid != a.uid {
		return fmt.Errorf("%s is not a private directory of user %s: remove it", dir, a.name)
	}
	return nil
}

// tail passes its input on and keeps the end of it.
type tail struct {
	to io.Writer // nil means nowhere

	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const keep = 4096
	t.mu.Lock()
	t.end = append(t.end, p...)
	if len(t.end) > keep {
		t.end = append([]byte(nil), t.end[len(t.end)-keep:]...)
	}
	t.mu.Unlock()

	if t.to == nil {
		return len(p), nil
	}
	return t.to.Write(p)
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
