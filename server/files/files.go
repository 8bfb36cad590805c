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

	// For storage on a disk alone, whose uploads and downloads come through this server:
	Transfers *budget.Budget        // bounds how many there are at the same time
	Begin     func() (end func())   // counts a download as a request in flight, until it ends
	Registry  prometheus.Registerer // takes the metrics; nil means that there are none
}

// Service takes, keeps and gives out the files of an application.
type Service struct {
	Options
	announcements *input.Reader // of the bodies of upload routes
}

// New makes the files of a server.
func New(o Options) *Service {
	if store, isDisk := o.Store.(*disk.Store); isDisk && o.Registry != nil {
		o.Registry.MustRegister(metrics(store, o.Transfers)...)
	}
	return &Service{Options: o, announcements: uploadRequestReader()}
}

// metrics are what operators see of storage on a disk.
func metrics(store *disk.Store, transfers *budget.Budget) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sternpost_storage_free_bytes", Help: "Bytes that are free on the disk of storage.",
		}, func() float64 {
			free, err := store.Free()
			if err != nil {
				return 0
			}
			return float64(free)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sternpost_transfers_in_flight", Help: "Uploads and downloads of files on their way through this server.",
		}, func() float64 { return float64(transfers.InUse()) }),
	}
}

// IsConfigured tells whether there is a place for files.
func (s *Service) IsConfigured() bool { return s.Store != nil }
