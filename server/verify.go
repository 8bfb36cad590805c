package server

import (
	"context"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/files"
)

// verifyTimeout is how long each statement of VerifyFiles may take: one reads all
// tables with files.
const verifyTimeout = time.Hour

// VerifyFiles compares storage with the database, in which it assumes a role, unless that
// is empty. What it returns is what files.Verify does.
func VerifyFiles(ctx context.Context, config config.Config, role string, o files.VerifyOptions) (faults []string, err error) {
	config.StatementTimeout = verifyTimeout
	db, err := openDatabase(&config, role)
	if err != nil {
		return nil, err
	}
	defer db.close()
	return files.Verify(ctx, &config, db, o)
}
