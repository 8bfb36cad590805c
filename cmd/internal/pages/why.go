package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// whyInput is a call that is explained and not made.
type whyInput struct {
	Action string          `json:"action"`
	As     string          `json:"as"`    // the id of an Identity, or its e-mail; empty is anonymous
	Input  json.RawMessage `json:"input"` // the body of the request; nil means that a row is named
	Row    string          `json:"row"`
}

// explained is why a call is admitted or refused, for people and in parts.
type explained struct {
	Text  string          `json:"text"`
	Parts json.RawMessage `json:"parts"`
}

// why explains a call.
func why(ctx context.Context, a *asked) (any, error) {
	var in whyInput
	if err := a.read(&in); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(a.Schema.Actions, func(action *model.Action) bool { return action.Name == in.Action })
	if i < 0 {
		return nil, wrong("the schema has no action %s", in.Action)
	}
	request := explain.Request{Action: a.Schema.Actions[i], Caller: in.As, Row: in.Row, Headers: map[string]string{}}
	mentioned := explain.Mentions(request.Action)
	request.Env, request.Secrets = Variables(a.env, mentioned.Env), Variables(a.env, mentioned.Secrets)
	if in.Input != nil {
		read, err := a.readInput(in.Action, in.Input)
		if err != nil {
			return nil, err
		}
		request.Input = read
	}
	var found explained
	err := pgx.BeginTxFunc(ctx, a.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		e, err := explain.Explain(ctx, tx, a.Schema, request)
		var caller *explain.CallerError
		if errors.As(err, &caller) {
			return wrong("%s", err)
		}
		if err != nil {
			return err
		}
		found = explained{explain.Text(e), explain.JSON(e)}
		return nil
	})
	return found, err
}

// Variables returns the values that names have in an environment.
func Variables(environ, names []string) map[string]string {
	values := map[string]string{}
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(names, name) {
			values[name] = value
		}
	}
	return values
}

// readInput checks the body of a request as the server does.
func (a *asked) readInput(action string, body []byte) ([]byte, error) {
	return ReadInput(a.Compiled, action, body)
}

// ReadInput checks the body of a request for an existing action, of one with rows the first, as the server does, and
// returns the input of its function. Its error is an *docs.WrongError if it is refused.
func ReadInput(compiled *sqlgen.Compiled, action string, body []byte) ([]byte, error) {
	of := compiled.Manifest.Action(action)
	var many struct{ Rows []json.RawMessage }
	if of.Row != "" && json.Unmarshal(body, &many) == nil && len(many.Rows) > 0 {
		body = many.Rows[0]
	}
	reader, err := input.Compile(compiled.Manifest.Schemas, cmp.Or(of.Row, of.Input))
	if err != nil {
		return nil, fmt.Errorf("read the schema of the input: %w", err)
	}
	read, err := reader.Read(body)
	var invalid *input.Invalid
	if errors.As(err, &invalid) {
		problems := make([]string, len(invalid.Problems))
		for i, p := range invalid.Problems {
			problems[i] = strings.TrimPrefix(p.Field+": "+p.Error, ": ")
		}
		return nil, wrong("the input is not valid: %s", strings.Join(problems, "; "))
	}
	if err != nil {
		return nil, wrong("the input cannot be read: %v", err)
	}
	return read.JSON, nil
}
