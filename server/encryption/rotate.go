package encryption

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sql/release"
)

// Rotated is the result of Rotate for one column.
type Rotated struct {
	Column    string   // table.column
	Encrypted int      // values that the current key has encrypted again
	Lost      []string // a sentence for each value that no key decrypts; it stays unchanged
}

// Rotate encrypts the values under previous keys again with the current key, so that the
// previous keys can be removed from the configuration. The login must own the tables. It
// works in small transactions, beside servers that write; updatedAt stays unchanged.
func Rotate(ctx context.Context, c config.Config) ([]Rotated, error) {
	if c.EncryptionKey == "" {
		return nil, errors.New(Missing)
	}
	keys, err := New(c.EncryptionKey, c.PreviousEncryptionKeys)
	if err != nil {
		return nil, err
	}
	conn, err := postgres.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var raw []byte
	if err := conn.QueryRow(ctx, `select manifest from platform.release order by number desc limit 1`).Scan(&raw); err != nil {
		return nil, fmt.Errorf("load the newest release: %w", err)
	}
	manifest, err := release.ReadManifest(raw)
	if err != nil {
		return nil, fmt.Errorf("read the newest release: %w", err)
	}
	var all []Rotated
	rotations := []rotation{{keys: keys, conn: conn, name: "auth_totp.secret", table: "platform.auth_totp", key: "identity_id", column: "secret"}}
	for _, column := range manifest.Encrypted {
		rotations = append(rotations, rotation{
			keys: keys, conn: conn, name: column.Table + "." + column.Column,
			table: pgx.Identifier{"app", column.Table}.Sanitize(), key: "id", column: pgx.Identifier{column.Column}.Sanitize(), isTouched: true,
		})
	}
	for _, r := range rotations {
		rotated, err := r.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("encrypt %s anew: %w", r.name, err)
		}
		if len(rotated.Lost) > 0 || rotated.Encrypted > 0 || r.isTouched {
			all = append(all, rotated)
		}
	}
	return all, nil
}

// rotation is the rotation of one column.
type rotation struct {
	keys               *Keys
	conn               *pgx.Conn
	name               string // for people
	table, key, column string // quoted
	isTouched          bool   // a trigger keeps updated_at of the table
}

// rotatedAtOnce is how many values one transaction replaces. During it no other
// transaction writes to the table.
const rotatedAtOnce = 500

func (r rotation) run(ctx context.Context) (Rotated, error) {
	rotated := Rotated{Column: r.name}
	after := ""
	for {
		ids, old, err := r.next(ctx, after)
		if err != nil || len(ids) == 0 {
			return rotated, err
		}
		after = ids[len(ids)-1]
		var changed, before, now []string
		for i, id := range ids {
			text, err := r.keys.Decrypt(old[i])
			if err != nil {
				rotated.Lost = append(rotated.Lost, fmt.Sprintf("%s of %s: %v", rotated.Column, id, err))
				continue
			}
			changed, before, now = append(changed, id), append(before, old[i]), append(now, r.keys.Encrypt(text))
		}
		n, err := r.replace(ctx, changed, before, now)
		if err != nil {
			return rotated, err
		}
		rotated.Encrypted += n
	}
}

// next returns the next values under another key.
func (r rotation) next(ctx context.Context, after string) (ids, values []string, err error) {
	err = r.conn.QueryRow(ctx, fmt.Sprintf(`
		select coalesce(array_agg(id order by id), '{}'), coalesce(array_agg(value order by id), '{}')
		from (
			select %s, %s from %s
			where %[1]s > $1 and not starts_with(%[2]s, $2)
			order by %[1]s
			limit $3
		) as listed (id, value)`, r.key, r.column, r.table), after, r.keys.NewestPrefix(), rotatedAtOnce).Scan(&ids, &values)
	return ids, values, err
}

// replace replaces the values that have not changed meanwhile, and returns their number.
// The trigger that keeps updated_at is off, in this transaction alone.
func (r rotation) replace(ctx context.Context, ids, old, values []string) (n int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	err = pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		if r.isTouched {
			if _, err := tx.Exec(ctx, fmt.Sprintf(`alter table %s disable trigger _100_touch`, r.table)); err != nil {
				return err
			}
		}
		tag, err := tx.Exec(ctx, fmt.Sprintf(`
			update %s as changed set %s = sealed.value
			from unnest($1::text[], $2::text[], $3::text[]) as sealed (id, old, value)
			where changed.%[3]s = sealed.id and changed.%[2]s = sealed.old`, r.table, r.column, r.key), ids, old, values)
		if err != nil {
			return err
		}
		n = int(tag.RowsAffected())
		if !r.isTouched {
			return nil
		}
		_, err = tx.Exec(ctx, fmt.Sprintf(`alter table %s enable trigger _100_touch`, r.table))
		return err
	})
	return n, err
}
