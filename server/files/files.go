package files

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/budget"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
)

// Database is the part of the database that files need.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error

	// Transaction runs statements in a transaction, which ends with them.
	Transaction(ctx context.Context, do func(pgx.Tx) error) error
}

// Options configure the files of a server.
type Options struct {
	Config *config.Config
	DB     Database
	Store  storage.Store // nil if files are not configured
	Policy *request.Policy
	Log    *slog.Logger

	// Only for storage on a disk, with uploads and downloads through this server:
	Uploads, Downloads *budget.Budget        // limit the concurrent ones
	Begin              func() (end func())   // counts a download as a request in flight, until it ends
	Registry           prometheus.Registerer // takes the metrics; nil means none
}

// Service receives, keeps and serves the files of an application.
type Service struct {
	Options
	announcements *input.Reader // for the bodies of upload routes
}

// New makes the files of a server.
func New(o Options) *Service {
	if store, isDisk := o.Store.(*disk.Store); isDisk && o.Registry != nil {
		o.Registry.MustRegister(o.metrics(store)...)
	}
	return &Service{Options: o, announcements: uploadRequestReader()}
}

// metrics are the metrics of storage on a disk.
func (o *Options) metrics(store *disk.Store) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sternpost_storage_free_bytes", Help: "Free bytes on the disk of storage.",
		}, func() float64 {
			free, err := store.Free()
			if err != nil {
				return 0
			}
			return float64(free)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sternpost_transfers_in_flight", Help: "Uploads and downloads in progress through this server.",
		}, func() float64 { return float64(o.Uploads.InUse() + o.Downloads.InUse()) }),
	}
}

// IsConfigured tells whether a store is configured.
func (s *Service) IsConfigured() bool { return s.Store != nil }
