package refusal

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/sql/release"
)

// judged is an error of platform.judge_rows.
type judged struct {
	Place      int            `json:"place"` // counted from 0
	Code       string         `json:"code"`
	Message    string         `json:"message"`
	Detail     string         `json:"detail"`
	Where      string         `json:"where"`
	Schema     string         `json:"schema"`
	Table      string         `json:"table"`
	Column     string         `json:"column"`
	Constraint string         `json:"constraint"`
	Row        jsontext.Value `json:"row"`
}

// NamesRow tells whether a refusal says itself which row of the call it is about.
func (r *Refusal) NamesRow() bool {
	return len(r.entries) > 0 && strings.HasPrefix(r.entries[0].Field, "rows[")
}

// OfRows returns the refusal of a call of many rows by what platform.judge_rows has found: that of the first row, with
// the problems of all, each with its row. It returns the refusal of the whole call if no row is refused by itself.
func OfRows(whole *Refusal, found []byte, action *release.Action, constraints map[string]release.Constraint) *Refusal {
	var rows []judged
	if json.Unmarshal(found, &rows) != nil || len(rows) == 0 {
		return whole
	}
	var first *Refusal
	var entries []problem.Problem
	for _, row := range rows {
		r := OfCall(&pgconn.PgError{
			Code: row.Code, Message: row.Message, Detail: row.Detail, Where: row.Where,
			SchemaName: row.Schema, TableName: row.Table, ColumnName: row.Column, ConstraintName: row.Constraint,
		}, action, constraints, row.Row)
		if first == nil {
			first = r
		}
		if r.Status >= 500 { // of no row
			return r
		}
		if len(r.entries) == 0 {
			r.entries = []problem.Problem{problem.Refused(r.Code, r.Message)}
		}
		for _, e := range r.entries {
			entries = append(entries, e.At(input.RowPath(strconv.Itoa(row.Place), e.Field)))
		}
	}
	one := *first
	one.entries = entries
	return &one
}
