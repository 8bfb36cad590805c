//go:build !unix

package postgres

import (
	"context"
	"errors"
)

// account is not used on this system.
type account struct{ name string }

func (account) canReach(string) bool { return true }

// InUseError is never returned on this system.
type InUseError struct{}

func (*InUseError) Error() string { return "in use" }

func launch(context.Context, Options) (*Server, error) {
	return nil, errors.New("Sternpost cannot start Postgres on this system: set DATABASE_URL")
}

func remove(context.Context, string) error {
	return errors.New("Sternpost cannot start Postgres on this system, so it has no data to remove")
}
