package server

import (
	"context"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/files"
)

// verifyTimeout limits each statement of VerifyFiles: one of them reads all tables with
// files.
const verifyTimeout = time.Hour

// VerifyFiles compares storage with the database, under a role unless that is empty. It
// returns the result of files.Verify.
func VerifyFiles(ctx context.Context, config config.Config, role string, o files.VerifyOptions) (faults []string, err error) {
	config.StatementTimeout = verifyTimeout
	db, err := database.Open(&config, role)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return files.Verify(ctx, &config, db, o)
}
