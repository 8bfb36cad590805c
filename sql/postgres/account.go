//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that runs the server. Postgres refuses to run as root.
type account struct {
	name     string
	uid, gid uint32
	differs  bool // from the user that this process runs as
}

// serverAccount returns the current user, or for root the first existing one of two users
// without special rights.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{name: strconv.Itoa(os.Geteuid()), uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if errors.As(err, new(user.UnknownUserError)) {
			continue
		}
		if err != nil {
			return account{}, fmt.Errorf("look up user %s: %w", name, err)
		}
		return accountOf(u)
	}
	return account{}, errors.New("Postgres refuses to run as root, and this system has neither a user postgres nor a user nobody: run as another user")
}

func accountOf(u *user.User) (account, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("id of user %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("group of user %s: %w", u.Username, err)
	}
	return account{name: u.Username, uid: uint32(uid), gid: uint32(gid), differs: true}, nil
}

// canReach tells whether the account can access a directory that this process can see. It
// requires that the modes of the directory and all its parents allow that.
func (a account) canReach(dir string) bool {
	if !a.differs {
		return true
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		mode, stat := info.Mode().Perm(), info.Sys().(*syscall.Stat_t)
		switch {
		case stat.Uid == a.uid:
			mode >>= 6
		case stat.Gid == a.gid:
			mode >>= 3
		}
		if mode&1 == 0 {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// attributes makes a child process run as the account, in its own process group, so that
// an interrupt from the terminal reaches only this process.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.differs {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// makeDir makes a directory that belongs to the account and is closed to all others.
func (a account) makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return a.own(dir)
}

func (a account) own(path string) error {
	if !a.differs {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}
