package migrate

import (
	"context"
)

// Status is how far a database is.
type Status struct {
	Version  int   // of the migrations that are applied
	Release  int64 // the newest; 0 means none
	Pending  []*File
	Drift    []Difference // what was changed by hand since then
	Halfway  bool         // whether the last change is not complete
	Obstacle error        // why the pending files cannot be applied; nil means they can
}

// IsCurrent tells whether all is applied and nothing was changed by hand.
func (s *Status) IsCurrent() bool {
	return len(s.Pending) == 0 && len(s.Drift) == 0 && s.Obstacle == nil
}

// ReadStatus compares a database with the migrations, as its owner. It changes nothing.
func ReadStatus(ctx context.Context, folder *Folder, url string) (*Status, error) {
	if err := folder.files(); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, url, defaultLockTimeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := checkOwner(ctx, conn); err != nil {
		return nil, err
	}
	s, err := readState(ctx, conn)
	if err != nil {
		return nil, err
	}
	status := &Status{Version: s.version, Release: s.release, Obstacle: folder.where(s)}
	if s.version <= len(folder.Files) {
		status.Pending = folder.Files[s.version:]
		status.Halfway = !folder.isComplete(s.version)
	}
	if !status.Halfway {
		status.Drift, err = readDrift(ctx, conn)
	}
	return status, err
}
