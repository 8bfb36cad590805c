package pages

import (
	"context"
	"encoding/json"
)

// signIns tells the second factors of an identity, and where it is signed in.
func signIns(ctx context.Context, a *asked) (any, error) {
	var in struct {
		ID string `json:"id"`
	}
	if err := a.read(&in); err != nil {
		return nil, err
	}
	var factors, sessions string
	err := a.conn.QueryRow(ctx, `select platform.auth_factor_list($1), platform.auth_sessions($1, null)`, in.ID).Scan(&factors, &sessions)
	return map[string]json.RawMessage{"factors": json.RawMessage(factors), "sessions": json.RawMessage(sessions)}, err
}
