package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ParseURL reads the URL of a database for writes.
func ParseURL(databaseURL string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	WantWrites(&config.Config, databaseURL)
	return config, nil
}

// WantWrites makes connections choose the host that takes writes, if a URL names several
// hosts without target_session_attrs.
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

// EachHost splits a configuration into one for each place that a URL names.
func EachHost(config *pgx.ConnConfig) []*pgx.ConnConfig {
	var each []*pgx.ConnConfig
	add := func(f *pgconn.FallbackConfig) {
		for _, known := range each {
			if known.Host == f.Host && known.Port == f.Port { // the same place, tried in another way
				known.Fallbacks = append(known.Fallbacks, f)
				return
			}
		}
		own := config.Copy()
		own.Host, own.Port, own.TLSConfig, own.Fallbacks = f.Host, f.Port, f.TLSConfig, nil
		each = append(each, own)
	}
	add(&pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig})
	for _, f := range config.Fallbacks {
		add(f)
	}
	return each
}

// Connect connects to a database for writes. It does not prepare statements under names,
// since some poolers do not keep them.
func Connect(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	config, err := ParseURL(databaseURL)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, config)
}
