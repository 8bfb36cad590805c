package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ParseURL reads the URL of a database that is to be written to.
func ParseURL(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	WantWrites(&config.Config, databaseURL)
	return config, nil
}

// WantWrites lets connections lead to the host that takes writes, where a URL names several
// and does not say which is meant (target_session_attrs).
func WantWrites(config *pgconn.Config, databaseURL string) {
	saysWhich := strings.Contains(databaseURL, "target_session_attrs") || os.Getenv("PGTARGETSESSIONATTRS") != ""
	if HasSeveralHosts(config) && !saysWhich {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

// HasSeveralHosts tells whether a URL names more than one place to connect to. One place may
// be tried in several ways, with and without encryption.
func HasSeveralHosts(config *pgconn.Config) bool {
	for _, f := range config.Fallbacks {
		if f.Host != config.Host || f.Port != config.Port {
			return true
		}
	}
	return false
}

// Connect connects to a database that is to be written to.
func Connect(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	config, err := ParseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config)
}
