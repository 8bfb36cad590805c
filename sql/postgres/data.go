//go:build unix

package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// InUseError says that another process runs a server on the same data.
type InUseError struct {
	Dir string
	PID int // 0 if unknown
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("%s is in use by process %d", e.Dir, e.PID)
}

// data is a data directory that only this process uses.
type data struct {
	dir    string
	remark string   // why it is at an unexpected place; mostly empty
	lock   *os.File // held by flock until it is closed
	remove string   // what to remove at the end; empty keeps everything
}

// keptData returns the directory "postgres" under dir, or one outside if the account has
// no access there. It belongs to the user that made it, which may be another account.
func keptData(dir string, acc *account) (*data, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the directory for data: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory for data: %w", err)
	}

	d := &data{dir: filepath.Join(dir, "postgres")}
	if !acc.canReach(dir) {
		if d.dir, err = reachableData(dir); err != nil {
			return nil, err
		}
		d.remark = fmt.Sprintf("user %s cannot open %s", acc.name, dir)
	}
	if err := acc.adoptOwner(d.dir); err != nil {
		return nil, err
	}

	d.lock, err = lockFile(d.dir + ".lock")
	if err != nil {
		return nil, err
	}
	return d, nil
}

// remove removes kept data that is not in use.
func remove(ctx context.Context, dir string) error {
	acc, err := serverAccount()
	if err != nil {
		return err
	}
	d, err := keptData(dir, &acc)
	if err != nil {
		return err
	}
	if err := d.awaitPredecessor(ctx); err != nil {
		return errors.Join(err, d.release())
	}
	d.remove = d.dir
	return d.release()
}

// reachableData returns the place where root keeps the data of a directory that is closed
// to the account, such as one under /root.
func reachableData(dir string) (string, error) {
	const base = "/var/lib/sternpost"
	if err := os.MkdirAll(base, 0o711); err != nil {
		return "", fmt.Errorf("make the directory for data: %w", err)
	}
	return filepath.Join(base, "postgres-"+shortHash(dir)), nil
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// adoptOwner makes the owner of existing data the account, if this process may act as
// that user. Postgres does not accept data of another user.
func (a *account) adoptOwner(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the owner of the data: %w", err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	switch {
	case stat.Uid == a.uid:
		return nil
	case a.differs && stat.Uid != 0:
		*a = account{name: strconv.Itoa(int(stat.Uid)), uid: stat.Uid, gid: stat.Gid, differs: true}
		return nil
	default:
		return fmt.Errorf("%s belongs to user %d, so user %s cannot use it: run as its owner, or move it away to begin anew", dir, stat.Uid, a.name)
	}
}

// lockFile opens a file and locks it while it is open, at most as long as this process
// lives.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the data: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close()
		holder := make([]byte, 20)
		n, _ := file.Read(holder)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(holder[:n]))) // unreadable means unknown
		return nil, &InUseError{Dir: strings.TrimSuffix(path, ".lock"), PID: pid}
	}
	if err == nil {
		err = writeHolder(file)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return file, nil
}

// writeHolder notes the holder of the lock, for the error in other processes.
func writeHolder(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// tempPrefix is the prefix for directories of temporary servers.
const tempPrefix = "sternpost-postgres-"

// temporaryData returns a directory that is removed with the server. It also removes
// leftovers of killed processes.
func temporaryData(acc *account) (*data, error) {
	base, err := acc.tempDir()
	if err != nil {
		return nil, err
	}
	sweep(base)

	dir, err := os.MkdirTemp(base, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("make the directory for data: %w", err)
	}
	d := &data{dir: filepath.Join(dir, "data"), remove: dir}
	if acc.differs {
		err = os.Chmod(dir, 0o711)
	}
	// The name lock appears when the lock is held: sweep removes any other directory.
	if err == nil {
		d.lock, err = lockFile(filepath.Join(dir, "locking"))
	}
	if err == nil {
		err = os.Rename(filepath.Join(dir, "locking"), filepath.Join(dir, "lock"))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the directory for data: %w", err), d.release())
	}
	return d, nil
}

// tempDir returns a directory for temporary files that the account can reach. It is in memory if there is plenty,
// since a disk takes twice the time to copy a database.
func (a account) tempDir() (string, error) {
	for _, dir := range []string{memoryDir(), os.TempDir(), "/tmp", "/var/tmp"} {
		if dir != "" && a.canReach(dir) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("user %s can open no directory for temporary files: set TMPDIR to one", a.name)
}

// sweep removes leftover directories of temporary servers of killed processes: those with a
// free lock. It ignores those that cannot be removed.
func sweep(base string) {
	dirs, err := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	if err != nil {
		panic(fmt.Sprintf("pattern for %s: %v", base, err))
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
			continue
		}
		file, err := os.Open(filepath.Join(dir, "lock"))
		if errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
		if err != nil {
			continue
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		file.Close()
	}
}

// release unlocks the directory, and removes it if it was temporary.
func (d *data) release() error {
	var err error
	if d.remove != "" {
		err = os.RemoveAll(d.remove)
	}
	if d.lock != nil {
		// Closing is not enough: a child that is being started holds the file too, until it runs another program.
		err = errors.Join(err, syscall.Flock(int(d.lock.Fd()), syscall.LOCK_UN), d.lock.Close())
	}
	return err
}

// choose returns the newest installation, or the one that made the existing data.
func (d *data) choose(installations []installation) (installation, error) {
	text, err := os.ReadFile(filepath.Join(d.dir, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return installations[0], nil
	}
	if err != nil {
		return installation{}, fmt.Errorf("read the version of the data: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return installation{}, fmt.Errorf("read the version of the data in %s: %w", d.dir, err)
	}
	for _, inst := range installations {
		if inst.major == major {
			return inst, nil
		}
	}
	return installation{}, fmt.Errorf(
		"PostgreSQL %[2]d made the data in %[1]s, and only %[3]d is installed: install %[2]d, or move the directory away to begin anew",
		d.dir, major, installations[0].major)
}

// initialize makes a missing data directory. It is made under another name first, so that
// a directory of the final name is complete.
func (d *data) initialize(ctx context.Context, inst installation, acc account) error {
	if _, err := os.Stat(filepath.Join(d.dir, "PG_VERSION")); err == nil {
		return nil
	}
	fresh := d.dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove what an earlier start left: %w", err)
	}
	if err := acc.makeDir(fresh); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}

	args := []string{
		"--pgdata=" + fresh,
		"--username=" + superuser,
		"--auth=trust", // the socket's directory is private
		"--encoding=UTF8",
	}
	// Byte order and Unicode letters, on any machine. Postgres has that built in from 17 on.
	if inst.major >= 17 {
		args = append(args, "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
	} else {
		args = append(args, "--locale=C.UTF-8")
	}
	if d.remove != "" {
		args = append(args, "--no-sync")
	}
	printed := &tail{}
	cmd := command(inst.path("initdb"), args, acc, printed)
	if err := runBound(ctx, cmd); err != nil {
		return fmt.Errorf("initialize the data with %s: %w; it printed:\n%s", cmd.Path, err, printed.text())
	}
	if err := os.Rename(fresh, d.dir); err != nil {
		return fmt.Errorf("put the data directory in place: %w", err)
	}
	return nil
}

// awaitPredecessor makes sure that no server runs on the data. A server of a killed
// process ends with it, but that takes a moment. If another program has since got the
// process number in its file, Postgres would wrongly wait for that program, so the file
// is removed.
func (d *data) awaitPredecessor(ctx context.Context) error {
	path := filepath.Join(d.dir, "postmaster.pid")
	deadline := time.Now().Add(10 * time.Second)
	for {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for a running server: %w", err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(first)
		if err != nil || pid <= 0 || !isPostgres(ctx, pid) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the file of a server that has ended: %w", err)
			}
			return nil
		}
		if time.Now().After(deadline) {
			return &InUseError{Dir: d.dir, PID: pid}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for an earlier server (process %d) to end: %w", pid, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isPostgres tells whether a process exists and looks like a Postgres server.
func isPostgres(ctx context.Context, pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		command, err = exec.CommandContext(ctx, "ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	}
	// A process that has just ended has an empty or unreadable one.
	return err == nil && strings.Contains(string(command), "postgres")
}
