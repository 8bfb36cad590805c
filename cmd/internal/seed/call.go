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

func (c Call) body() []byte {
	if c.Input == nil {
		return []byte("{}")
	}
	return c.Input
}

// make makes the call as an identity; anonymously, if that is empty.
func (c Call) make(ctx context.Context, to Target, identity string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Address+pathOf(to.Compiled, c.Action), bytes.NewReader(c.body()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if identity != "" {
		token, _, err := to.Tokens.Issue(identity)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return nil
	}
	return refusal(response.StatusCode, text)
}

// refusal says why a call was refused.
func refusal(status int, text []byte) error {
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
