package server

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// TestRefusalsOfCustomCode checks what custom code may tell callers: some refusals, with
// its own message, and nothing else.
func TestRefusalsOfCustomCode(t *testing.T) {
	t.Parallel()
	const inCode = "PL/pgSQL function functions.work(text) line 3 at RAISE\nPL/pgSQL function api.work(jsonb,jsonb) line 5 at assignment"
	const inPlatform = "fonction PL/pgSQL platform.require_valid(text[],text[]), ligne 4 à RAISE\nfonction PL/pgSQL api.work(jsonb,jsonb), ligne 5 à PERFORM"
	const internalJSON = `{"code":"ERR_INTERNAL","message":"an internal error occurred"}`
	const detail = `{"errors": [{"code": "validate", "error": "no"}]}`
	reference := map[string]release.Constraint{"note_author_id_fkey": {Kind: release.Reference, Table: "note", Fields: []string{"authorId"}}}
	for _, c := range []struct {
		kind   release.Kind
		raised pgconn.PgError
		want   string
	}{
		{release.Write, pgconn.PgError{Code: "SP400", Message: "too much", Where: inCode, Detail: detail},
			`{"code":"ERR_INVALID_INPUT","message":"too much"}`},
		{release.Write, pgconn.PgError{Code: "SP403", Message: "not yours", Where: inCode},
			`{"code":"ERR_PERMISSION_DENIED","message":"not yours"}`},
		{release.Get, pgconn.PgError{Code: "SP404", Message: "gone", Where: inCode}, `{"code":"ERR_RECORD_NOT_FOUND","message":"gone"}`},
		{release.Create, pgconn.PgError{Code: "SP409", Message: strings.Repeat("é", 600), Where: inCode},
			`{"code":"ERR_CONFLICT","message":"` + strings.Repeat("é", 500) + `"}`},
		{release.Write, pgconn.PgError{Code: "SP400", Message: "bad", Where: inPlatform, Detail: detail},
			`{"code":"ERR_INVALID_INPUT","message":"bad","data":{"errors":[{"code":"validate","error":"no"}]}}`},
		{release.Write, pgconn.PgError{Code: "SP401", Message: "who", Where: inCode}, internalJSON},
		{release.Write, pgconn.PgError{Code: "SP429", Message: "slow down", Where: inCode}, internalJSON},
		{release.Write, pgconn.PgError{Code: "SP999", Message: "x", Where: inCode}, internalJSON},
		{release.Write, pgconn.PgError{Code: "P0001", Message: "secret", Where: inCode}, internalJSON},
		{release.Read, pgconn.PgError{Code: "25006", Message: "cannot execute INSERT in a read-only transaction", Where: inCode}, internalJSON},
		{release.Write, pgconn.PgError{Code: "42501", Message: "new row violates", Where: inCode}, `{"code":"ERR_PERMISSION_DENIED","message":"not authorized to access"}`},
		{release.Write, pgconn.PgError{
			Code: "23503", TableName: "note", ConstraintName: "note_author_id_fkey", Where: inCode,
			Detail: `Key (author_id)=(x) is not present in table "author".`,
		}, `{"code":"ERR_INVALID_INPUT","message":"the record referenced in field 'authorId' does not exist",` +
			`"data":{"errors":[{"field":"authorId","code":"reference","error":"does not exist"}]}}`},
		{release.Write, pgconn.PgError{
			Code: "23503", TableName: "note", ConstraintName: "note_author_id_fkey", Where: inCode,
			Detail: `Key (id)=(x) is still referenced from table "note".`,
		}, `{"code":"ERR_INVALID_INPUT","message":"the record is referenced by other records","data":{"errors":[{"code":"restrict","error":"is still referenced"}]}}`},
	} {
		action := &release.Action{Name: "work", Kind: c.kind, Custom: true}
		if got := string(refusal.OfCall(&c.raised, action, reference, []byte(`{}`)).Envelope()); got != c.want {
			t.Errorf("%s %s %q\ngot  %s\nwant %s", c.kind, c.raised.Code, c.raised.Message, got, c.want)
		}
	}
}
