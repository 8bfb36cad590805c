package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sternpost/sternpost/sqlgen"
)

// client makes calls, with the longest time that a server allows.
var client = &http.Client{Timeout: time.Minute}

// pathOf returns the path of an action in the first API that exposes it; empty if none does.
func pathOf(compiled *sqlgen.Compiled, action string) string {
	for _, api := range compiled.Manifest.APIs {
		if slices.Contains(api.Actions, action) {
			return "/" + api.Path + "/json/" + action
		}
	}
	return ""
}

// IsExposed tells whether an API exposes an action.
func IsExposed(compiled *sqlgen.Compiled, action string) bool { return pathOf(compiled, action) != "" }

func (c Call) body() []byte {
	if c.Input == nil {
		return []byte("{}")
	}
	return c.Input
}

// Send makes the call as an identity; anonymously, if that is empty.
func (c Call) Send(ctx context.Context, to Target, identity string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Address+pathOf(to.Compiled, c.Action), bytes.NewReader(c.body()))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if identity != "" {
		token, _, err := to.Tokens.Issue(identity)
		if err != nil {
			return 0, nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return response.StatusCode, answer, nil
}

// make makes the call of a seed, which must be admitted.
func (c Call) make(ctx context.Context, to Target, identity string) error {
	status, answer, err := c.Send(ctx, to, identity)
	if err != nil || status == http.StatusOK {
		return err
	}
	return Refusal(status, answer)
}

// AwaitReady waits a short time until a server is ready: the reason of a delay is in its
// log.
func AwaitReady(ctx context.Context, address string) {
	for range 300 {
		if response, err := client.Get(address + "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Refusal says why a call was refused.
func Refusal(status int, text []byte) error {
	var answer struct {
		Code, Message string
		Data          struct {
			Errors []struct{ Field, Error string }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Message == "" {
		return fmt.Errorf("the server answers with status %d", status)
	}
	message := answer.Message + " (" + answer.Code + ")"
	for _, e := range answer.Data.Errors {
		message += "; " + strings.TrimPrefix(e.Field+": "+e.Error, ": ")
	}
	return errors.New(message)
}
