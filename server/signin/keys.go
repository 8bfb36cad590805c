package signin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/sql/postgres"
)

// MachineKey is a key of a machine for calls, as the owner of the database sees it.
type MachineKey struct {
	ID         string
	IdentityID string
	Email      string
	CreatedAt  time.Time
	EndsAt     time.Time
	State      string // valid, expired or revoked
}

// The reasons why no key was made.
var (
	ErrNoIdentity        = errors.New("no identity has this id or e-mail address")
	ErrSeveralIdentities = errors.New("several identities have this e-mail address: name one of them by its id")
)

// CreateKey makes a key of an identity, which is named by its id or by a unique e-mail
// address. It fails with ErrNoIdentity or ErrSeveralIdentities.
func CreateKey(ctx context.Context, databaseURL, identity string, ends time.Time) (key string, created MachineKey, err error) {
	err = asOwner(ctx, databaseURL, func(conn *pgx.Conn) error {
		var hash []byte
		key, hash = auth.NewMachineKey()
		var id, identityID *string
		var isSeveral bool
		err := conn.QueryRow(ctx, `select id, identity_id, is_several from platform.auth_key_create($1, $2, $3)`, identity, hash, ends).
			Scan(&id, &identityID, &isSeveral)
		switch {
		case err != nil:
			return fmt.Errorf("make a key: %w", err)
		case isSeveral:
			return ErrSeveralIdentities
		case id == nil:
			return ErrNoIdentity
		}
		created = MachineKey{ID: *id, IdentityID: *identityID, EndsAt: ends}
		return nil
	})
	return key, created, err
}

// ListKeys lists all keys, the latest first.
func ListKeys(ctx context.Context, databaseURL string) (keys []MachineKey, err error) {
	err = asOwner(ctx, databaseURL, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `
			select auth_key.id, auth_key.identity_id, coalesce(identity.email, '') as email, auth_key.created_at, auth_key.ends_at,
				case when auth_key.revoked_at is not null then 'revoked' when auth_key.ends_at <= now() then 'expired' else 'valid' end as state
			from platform.auth_key
			left join app.identity on identity.id = auth_key.identity_id
			order by auth_key.created_at desc, auth_key.id`)
		if err == nil {
			keys, err = pgx.CollectRows(rows, pgx.RowToStructByPos[MachineKey])
		}
		if err != nil {
			return fmt.Errorf("list the keys: %w", err)
		}
		return nil
	})
	return keys, err
}

// RevokeKey revokes a key. It returns false for an unknown id, or one revoked before.
func RevokeKey(ctx context.Context, databaseURL, id string) (isRevoked bool, err error) {
	err = asOwner(ctx, databaseURL, func(conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, `update platform.auth_key set revoked_at = now() where id = $1 and revoked_at is null`, id)
		if err != nil {
			return fmt.Errorf("revoke the key: %w", err)
		}
		isRevoked = tag.RowsAffected() == 1
		return nil
	})
	return isRevoked, err
}

// asOwner connects as the owner of the database.
func asOwner(ctx context.Context, databaseURL string, do func(*pgx.Conn) error) error {
	conn, err := postgres.Connect(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}
