package files

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/storage"
)

// Database is what files need of the database.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error

	// Transaction runs statements in a transaction, which ends with them.
	Transaction(ctx context.Context, do func(pgx.Tx) error) error
}

// Options are what the files of a server are made of.
type Options struct {
	Config *config.Config
	DB     Database
	Store  storage.Store // nil where files are not configured
	Policy *request.Policy
	Log    *slog.Logger
}

// Service takes, keeps and gives out the files of an application.
type Service struct {
	Options
	announcements *input.Reader // of the bodies of upload routes
}

// New makes the files of a server.
func New(o Options) *Service {
	return &Service{Options: o, announcements: uploadRequestReader()}
}

// IsConfigured tells whether there is a place for files.
func (s *Service) IsConfigured() bool { return s.Store != nil }
