package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Throttled returns why files of an identity are currently refused with 429, a sentence
// for each reason; nil if they are not. mostOutstanding is the setting
// uploads.maxOutstanding. It only reads, as a role that may read schema platform.
func Throttled(ctx context.Context, tx pgx.Tx, identity string, mostOutstanding int) ([]string, error) {
	name := ofIdentity(identity)
	var why []string
	for _, limit := range []struct {
		query string
		most  int64
		text  string
	}{
		{
			`select bytes, since + interval '1 hour' from platform.file_failure
			where caller = $1 and bytes >= $2 and since > now() - interval '1 hour'`, name.most,
			"calls with files get 429 until %s: failed calls stored %d bytes within the last hour",
		},
		{
			`select count(*), min(expires_at) from platform.file_upload
			where minter = $1 and attached_at is null and expires_at > now() having count(*) >= $2`, int64(mostOutstanding),
			"new uploads get 429 until %s, or until a file is attached: %d uploads are outstanding",
		},
	} {
		var count int64
		var ends time.Time
		err := tx.QueryRow(ctx, limit.query, name.name, limit.most).Scan(&count, &ends)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ask whether files of %s are refused: %w", identity, err)
		}
		why = append(why, fmt.Sprintf(limit.text, ends.UTC().Format(time.RFC3339), count))
	}
	return why, nil
}
